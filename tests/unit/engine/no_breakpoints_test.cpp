// Where DBGEN is low, or the device tree asks for the same: emulation does what it can, and the
// rest is refused.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// `engine`: as in the tree; empty: the default.
RigOptions without_breakpoints(const std::string& engine, bool asked_for, unsigned cpus = 1) {
    RigOptions options = options_for(abi::EngineKind::shadow, cpus, 1);
    options.tree.engine = engine;
    options.tree.no_breakpoints = asked_for;
    options.conditions.dbgen_low = !asked_for;
    return options;
}

std::uint64_t refused(const Rig& rig) {
    std::uint64_t number = 0;
    for (const abi::Record& r : rig.records_of(abi::RecordType::fault)) {
        CHECK(abi::fault_reason(r.value) == abi::FaultReason::no_breakpoints);
        CHECK(rig.machine->regions[r.device].base <= abi::physical_address(r));
        ++number;
    }
    return number;
}

void check_never_stepped(const Rig& rig) {
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    for (unsigned n = 0; n < rig.machine->cpu_count; ++n)
        CHECK(rig.ring(n).statistics.stepped == 0);
}

} // namespace

TEST_CASE("without breakpoints every access that HSR describes is emulated, on the fast path too") {
    const std::string engine = GENERATE("", "shadow", "emulation");
    const bool asked_for = GENERATE(false, true);
    Rig rig(without_breakpoints(engine, asked_for));
    Code code = rig.program(0);
    code.mov(0, at::fifo);
    for (unsigned n = 0; n < 50; ++n) code.ldr(1, 0).ldrh(2, 0, 4).strb(1, 0, 8);
    code.cps(0x10).ldr(3, 0).cpsid_aif().end();
    rig.run();
    check_never_stepped(rig);
    CHECK(rig.records_of(abi::RecordType::access).size() == 151);
    CHECK(rig.ring(0).statistics.emulated == 151);
    CHECK(rig.simulation.slow_traps < 20);
    CHECK(refused(rig) == 0);
    CHECK(rig.machine->area->engine == abi::EngineKind::emulation);
    const std::string why =
        asked_for ? "mmioscope,no-breakpoints" : "DBGEN is low, or a debugger holds the CPU";
    CHECK(rig.text().find("emulation engine\r\nmmioscope: no breakpoints (" + why +
                          "): no engine but emulation; ") != std::string::npos);
}

TEST_CASE("without breakpoints an access that would need a step is an abort and a record") {
    Rig rig(without_breakpoints("", GENERATE(false, true)));
    Code code = rig.program(0);
    code.mov(0, at::fifo).mov(1, 0x1111).mov(2, 0x2222);
    const std::uint32_t first = code.here();
    code.ldr_post(1, 0, 4).str_post(1, 0, 4).ldm(0, 0x0006).stm(0, 0x0006).ldrd(2, 0);
    code.word(0xe190'1f9f); // ldrex r1, [r0]
    code.word(0xe180'3f92); // strex r3, r2, [r0]: there is no reservation
    code.ldr(4, 0).end();
    rig.run();
    check_never_stepped(rig);
    CHECK(refused(rig) == 6);
    CHECK(rig.reg(0, 9) == 6); // data aborts
    CHECK(rig.reg(0, 0) == at::fifo);
    CHECK(rig.reg(0, 1) == 0x1111);
    CHECK(rig.reg(0, 2) == 0x2222);
    CHECK(rig.reg(0, 3) == 1);
    const abi::Record r = rig.records_of(abi::RecordType::fault)[1]; // str_post
    CHECK(r.pc == first + 4);
    CHECK(r.va == at::fifo);
    CHECK(abi::is_write(r));
    CHECK(rig.bus_log(at::fifo, 0x1000).size() == 1); // the last load
}

TEST_CASE("without breakpoints two CPUs on one device are traced in its order") {
    Rig rig(without_breakpoints("shadow", GENERATE(false, true), 2));
    for (unsigned cpu = 0; cpu < 2; ++cpu) {
        Code code = rig.program(cpu);
        code.mov(0, at::fifo);
        for (unsigned n = 0; n < 100; ++n) code.ldr(1, 0).str(1, 0, 4);
        code.ldr_post(1, 0, 4).end();
    }
    rig.run();
    check_never_stepped(rig);
    CHECK(rig.records_of(abi::RecordType::access).size() == 401); // one starts CPU 1
    CHECK(refused(rig) == 2);
}

TEST_CASE("without breakpoints the debug unit stays the guest's") {
    constexpr std::uint32_t address = 0x8001'9000;
    constexpr std::uint32_t whole_word = 0x1e6; // off
    Rig rig(without_breakpoints("", true));
    Code code = rig.program(0);
    code.mov(1, 0).word(0xee01'1e90);          // mcr p14, 0, r1, c1, c0, 4: DBGOSLAR, unlocked
    code.mov(1, address).word(0xee00'1e90);    // DBGBVR0
    code.mov(1, whole_word).word(0xee00'1eb0); // DBGBCR0
    code.mov(0, at::fifo).ldr(2, 0).ldr_post(2, 0, 4).ldr(2, 0);
    code.word(0xee10'3e90).word(0xee10'4eb0).end(); // r3, r4: the same registers
    rig.run();
    check_never_stepped(rig);
    CHECK(rig.reg(0, 3) == address);
    CHECK(rig.reg(0, 4) == whole_word);
    CHECK(!rig.machine->cpus[0].debug.is_hyps());
    CHECK((rig.simulation.cores[0].system.get<reg::HDCR>() & arch::hdcr_traps) == 0);
}

TEST_CASE("a CPU without breakpoints stops the machine if CPU 0 has them, unless it emulates") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    Rig rig(options_for(engine, 2, 1));
    rig.simulation.meanwhile = [&](Core&) { rig.simulation.conditions.dbgen_low = true; };
    for (unsigned cpu = 0; cpu < 2; ++cpu) rig.program(cpu).mov(0, at::fifo).ldr(1, 0).end();
    rig.run();
    const bool stops = engine == abi::EngineKind::shadow;
    CHECK((rig.text().find("this CPU has no breakpoints, and CPU 0 has") != std::string::npos) ==
          stops);
    CHECK(rig.simulation.cores[1].ended == !stops);
}
