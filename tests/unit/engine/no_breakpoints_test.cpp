// Where DBGEN is low, no debug event comes, or the device tree asks for the same: emulation does
// what it can, the guest steps on a page of the hypervisor's at PL1, and the rest is refused.
#include "abi/layout.hpp"
#include "bringup/bringup.hpp"
#include "catch_2_or_3.hpp"
#include "engine/service.hpp"
#include "sim/judge.hpp"
#include "sim/mmu.hpp"
#include "trap/fast_path.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

enum class Why { asked_for, dbgen_low, no_event };
constexpr auto each_reason = {Why::asked_for, Why::dbgen_low, Why::no_event};

/// `engine`: as in the tree; empty: the default.
RigOptions without_breakpoints(const std::string& engine, Why why, unsigned cpus = 1,
                               std::uint64_t seed = 1) {
    RigOptions options = options_for(abi::EngineKind::shadow, cpus, seed);
    options.tree.engine = engine;
    options.tree.no_breakpoints = why == Why::asked_for;
    if (why == Why::dbgen_low) options.conditions.dbgen_low = ~0u;
    if (why == Why::no_event) options.conditions.no_debug_events = ~0u;
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

/// Each access is in the trace, and so many instructions were stepped.
void check_trace(const Rig& rig, std::uint64_t steps) {
    CHECK(rig.failure() == "");
    CHECK(rig.text().find(abi::stop_line) == std::string::npos);
    CHECK(compare_with_bus(rig) == "");
    CHECK(check_table_history(rig, all_device_pages(), never_mapped()) == "");
    std::uint64_t stepped = 0;
    for (unsigned n = 0; n < rig.machine->cpu_count; ++n) stepped += rig.ring(n).statistics.stepped;
    CHECK(stepped == steps);
}

constexpr std::uint32_t elsewhere = 0x8002'8000; ///< a page of code
using mmu::full_access;
using mmu::window;

} // namespace

TEST_CASE("without breakpoints every access that HSR describes is emulated, on the fast path too") {
    const std::string engine = GENERATE("", "shadow", "emulation");
    const Why cause = GENERATE(values(each_reason));
    Rig rig(without_breakpoints(engine, cause));
    Code code = rig.program(0);
    code.mov(0, at::fifo);
    for (unsigned n = 0; n < 50; ++n) code.ldr(1, 0, 12).ldrh(2, 0, 4).strb(1, 0, 8);
    code.cps(0x10).ldr(3, 0).cpsid_aif().end();
    rig.run();
    check_trace(rig, 0);
    CHECK(rig.records_of(abi::RecordType::access).size() == 151);
    CHECK(rig.ring(0).statistics.emulated == 151);
    CHECK(rig.simulation.slow_traps < 20);
    CHECK(refused(rig) == 0);
    CHECK(rig.machine->area->engine == abi::EngineKind::emulation);
    const std::string why = cause == Why::asked_for ? "mmioscope,no-breakpoints"
                            : cause == Why::dbgen_low
                                ? "DBGEN is low, or a debugger holds the CPU"
                                : "MDBGen can be set, but no debug event comes";
    CHECK(rig.text().find("emulation engine\r\nmmioscope: no breakpoints (" + why +
                          "): no engine but emulation; what it cannot do is stepped by SMC at PL1, "
                          "else refused\r\n") != std::string::npos);
}

/// Every form, in ARM and Thumb state: ten of them are stepped.
void write_steps(Code code) {
    code.mov(0, at::wide).mov(1, 0x1111).mov(2, 0x2222).mov(3, 0x3333).cpsie_aif();
    code.str_post(1, 0, 4).str_post(2, 0, 4).stm(0, 0x000e).strd(2, 0, 16);
    code.mov(0, at::wide).ldr_post(4, 0, 4).ldm(0, 0x00e0);
    code.word(0xe190'8f9f);                    // ldrex r8, [r0]
    code.word(0xe180'3f91);                    // strex r3, r1, [r0]
    code.to_thumb().half(0xc006);              // stmia r0!, {r1, r2}
    code.wide(0xe950'4501).half(0x2800);       // ldrd r4, r5, [r0, #-4]; cmp r0, #0
    code.half(0xc840);                         // ldmia r0!, {r6}
    code.narrow(true, 2, 7, 0, 0).end_thumb(); // ldr r7, [r0]
}

TEST_CASE("without breakpoints the guest steps what HSR does not describe", "[protocol]") {
    const Why why = GENERATE(values(each_reason));
    Rig usual(options_for(abi::EngineKind::shadow, 1, 1));
    write_steps(usual.program(0));
    usual.run();
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        CAPTURE(seed, static_cast<int>(why));
        RigOptions options = without_breakpoints("", why, 1, seed);
        options.conditions.interrupt_one_in = seed % 2 == 0 ? 10 : 0;
        options.conditions.exceptions_clear_monitor = seed % 3 == 0;
        Rig rig(options);
        write_steps(rig.program(0));
        rig.on_end(0, [](Core&, mmioscope::Cpu& cpu) {
            verify_services(*cpu.machine, Moment::last); // the tables have not changed
        });
        rig.run();
        check_trace(rig, 10);
        CHECK(refused(rig) == 0);
        CHECK(rig.records_of(abi::RecordType::access).size() == 19);
        CHECK(rig.ring(0).statistics.abnormal == 0);
        for (unsigned n = 0; n < 9; ++n) CHECK(rig.reg(0, n) == usual.reg(0, n));
    }
}

TEST_CASE("in a step without breakpoints one page alone can be executed, and is only read") {
    Rig rig(without_breakpoints("", Why::dbgen_low));
    unsigned steps = 0;
    rig.simulation.meanwhile = [&](const Core& core) {
        if (!in_step(rig.machine->cpus[0])) return;
        ++steps;
        const auto leaf = [&](std::uint64_t at) {
            return walk(rig.simulation.ram, core.root(), at);
        };
        const Translation page = leaf(core.frame.pc);
        CHECK((page.executable() && page.readable() && !page.writable()));
        CHECK(rig.machine->own_memory.contains(page.output(core.frame.pc)));
        for (std::uint64_t at = 0; at < lpae::input_end; at += page_size)
            if (at != page_floor(core.frame.pc) && leaf(at).valid() && leaf(at).executable())
                FAIL("another page can be executed");
    };
    rig.program(0).mov(0, at::fifo).ldr_post(1, 0, 4).end();
    rig.run();
    check_trace(rig, 1);
    CHECK(steps >= 2); // the instruction, and SMC
}

TEST_CASE("without breakpoints a step in the page of the vectors ends at these") {
    constexpr std::uint32_t beside_the_vectors = 0x8001'8200;
    Rig rig(without_breakpoints("", Why::dbgen_low));
    rig.program(0).mov(0, at::broken).mov(4, at::fifo).mov(12, beside_the_vectors).bx(12);
    Code(rig.simulation.ram, beside_the_vectors).ldr_post(1, 0, 4).ldr_post(2, 4, 4).end();
    rig.run();
    check_trace(rig, 2);
    CHECK(rig.reg(0, 9) == 1);
    CHECK(rig.reg(0, 0) == at::broken);
    CHECK(rig.reg(0, 4) == at::fifo + 4);
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == 1);
    CHECK(abi::fault_reason(faults[0].value) == abi::FaultReason::external_abort);
}

TEST_CASE("without breakpoints an instruction steps to the next page, if no SMC would cross it") {
    struct Place {
        unsigned before; ///< bytes from the instruction to the page's end
        bool wide;
        bool steps;
    };
    const auto place = GENERATE(Place{2, false, true}, Place{4, false, false},
                                Place{6, false, true}, Place{2, true, false}, Place{4, true, true},
                                Place{6, true, false}, Place{8, true, true});
    CAPTURE(place.before, place.wide);
    Rig rig(without_breakpoints("", Why::dbgen_low));
    const std::uint32_t at = elsewhere + 0x1000 - place.before;
    rig.program(0).mov(0, at::wide).mov(12, at | 1).bx(12);
    Code code(rig.simulation.ram, at);
    if (place.wide) code.wide(0xf850'1b04); // ldr.w r1, [r0], #4
    else code.half(0xc802);                 // ldmia r0!, {r1}
    for (unsigned n = 0; n < 4; ++n) code.half(0xbf00);
    code.end_thumb();
    rig.run();
    check_trace(rig, place.steps ? 1 : 0);
    CHECK(refused(rig) == (place.steps ? 0 : 1));
    CHECK(rig.reg(0, 0) == at::wide + (place.steps ? 4 : 0));
}

TEST_CASE("without breakpoints what cannot be stepped either is an abort and a record") {
    Rig rig(without_breakpoints("", GENERATE(values(each_reason))));
    Code code = rig.program(0);
    code.mov(0, at::fifo).mov(1, 0x1111).mov(2, 0x2222);
    code.to_thumb().half(0x2800);                             // cmp r0, #0
    code.half(0xbf1c).half(0xc802).half(0xbf00).half(0xbf00); // itt ne; ldmiane r0!, {r1}; nopne
    code.to_arm().cps(0x10);
    const std::uint32_t first = code.here();
    code.ldr_post(1, 0, 4).str_post(1, 0, 4).ldm(0, 0x0006).stm(0, 0x0006).ldrd(2, 0);
    code.word(0xe190'1f9f); // ldrex r1, [r0]
    code.word(0xe180'3f92); // strex r3, r2, [r0]: there is no reservation
    code.ldr(4, 0).end();
    rig.run();
    check_trace(rig, 0);
    CHECK(refused(rig) == 7);
    CHECK(rig.reg(0, 9) == 7); // data aborts
    CHECK(rig.reg(0, 0) == at::fifo);
    CHECK(rig.reg(0, 1) == 0x1111);
    CHECK(rig.reg(0, 2) == 0x2222);
    CHECK(rig.reg(0, 3) == 1);
    const abi::Record r = rig.records_of(abi::RecordType::fault)[2]; // str_post
    CHECK(r.pc == first + 4);
    CHECK(r.va == at::fifo);
    CHECK(abi::is_write(r));
    CHECK(rig.bus_log(at::fifo, 0x1000).size() == 1); // the last load
}

TEST_CASE("without breakpoints an instruction that reaches the page of its own code is refused") {
    const bool load = GENERATE(false, true);
    const bool own = GENERATE(false, true);
    constexpr std::uint32_t other = 0x8031'0000;
    Rig rig(without_breakpoints("", Why::dbgen_low));
    Code code = rig.program(0);
    const std::uint32_t pages[] = {at::fifo | full_access, (own ? elsewhere : other) | full_access};
    mmu::write_tables(rig.simulation.ram, pages);
    mmu::turn_on(code);
    code.mov(0, window + 0xffc).mov(1, 0x1111).mov(2, 0x2222).mov(12, elsewhere).bx(12);
    Code there(rig.simulation.ram, elsewhere);
    if (load) there.ldm(0, 0x0006).end();
    else there.stm(0, 0x0006).end();
    const auto before = rig.simulation.ram.load<std::uint32_t>(elsewhere);
    rig.run();
    check_trace(rig, own ? 0 : 1);
    CHECK(refused(rig) == (own ? 1 : 0));
    CHECK(rig.bus_log(at::fifo, 0x1000).size() == (own ? 0 : 1));
    CHECK(rig.simulation.ram.load<std::uint32_t>(elsewhere) == before);
}

TEST_CASE(
    "without breakpoints an instruction made to store into its own code stores nothing there") {
    constexpr std::uint32_t other = 0x8031'0000;
    Rig rig(without_breakpoints("", Why::dbgen_low));
    Code code = rig.program(0);
    const std::uint32_t pages[] = {at::fifo | full_access, other | full_access};
    mmu::write_tables(rig.simulation.ram, pages);
    mmu::turn_on(code);
    code.mov(0, window + 0xffc).mov(1, 0x1111).mov(2, 0x2222).mov(12, elsewhere).bx(12);
    Code(rig.simulation.ram, elsewhere).stm(0, 0x0006).end();
    const auto before = rig.simulation.ram.load<std::uint32_t>(elsewhere);
    rig.simulation.meanwhile = [&](Core& core) {
        if (!in_step(rig.machine->cpus[0]) || core.frame.pc != elsewhere) return;
        rig.simulation.ram.store<std::uint32_t>(mmu::second_level + 4, elsewhere | full_access);
        core.tlb.forget({.by_hyp = true});
    };
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.text().find(abi::stop_line) == std::string::npos);
    CHECK(rig.simulation.ram.load<std::uint32_t>(elsewhere) == before);
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == 2);
    // The first word was stored in the device.
    CHECK(abi::fault_reason(faults[0].value) == abi::FaultReason::access_unknown);
    CHECK(abi::fault_reason(faults[1].value) == abi::FaultReason::no_breakpoints);
    CHECK(rig.reg(0, 9) == 1);
}

TEST_CASE("without breakpoints two CPUs on one device are traced in its order") {
    Rig rig(without_breakpoints("shadow", GENERATE(values(each_reason)), 2));
    for (unsigned cpu = 0; cpu < 2; ++cpu) {
        Code code = rig.program(cpu);
        code.mov(0, at::fifo).mov(3, at::fifo);
        for (unsigned n = 0; n < 20; ++n) code.ldr(1, 0).str(1, 0, 4).ldm(3, 0x0006);
        code.end();
    }
    rig.run();
    check_trace(rig, 40);
    CHECK(rig.records_of(abi::RecordType::access).size() == 161); // one starts CPU 1
    CHECK(refused(rig) == 0);
}

TEST_CASE("without breakpoints CPUs that step at the same time have a page each") {
    Rig rig(without_breakpoints("shadow", Why::dbgen_low, 2));
    for (unsigned cpu = 0; cpu < 2; ++cpu) {
        Code code = rig.program(cpu);
        code.mov(3, cpu == 0 ? at::fifo : at::wide); // each has a lock of its own
        for (unsigned n = 0; n < 20; ++n)
            if (cpu == 0) code.ldm(3, 0x0006);
            else code.strd(4, 3);
        code.end();
    }
    rig.run();
    check_trace(rig, 40);
    CHECK(refused(rig) == 0);
    CHECK(rig.records_of(abi::RecordType::access).size() == 81); // one starts CPU 1
}

TEST_CASE("without breakpoints the debug unit stays the guest's") {
    constexpr std::uint32_t address = 0x8001'9000;
    constexpr std::uint32_t whole_word = 0x1e6; // off
    Rig rig(without_breakpoints("", Why::asked_for));
    Code code = rig.program(0);
    code.mov(1, 0).word(0xee01'1e90);          // mcr p14, 0, r1, c1, c0, 4: DBGOSLAR, unlocked
    code.mov(1, address).word(0xee00'1e90);    // DBGBVR0
    code.mov(1, whole_word).word(0xee00'1eb0); // DBGBCR0
    code.mov(0, at::fifo).ldr(2, 0).ldr_post(2, 0, 4).ldr(2, 0);
    code.word(0xee10'3e90).word(0xee10'4eb0).end(); // r3, r4: the same registers
    rig.run();
    check_trace(rig, 1);
    CHECK(rig.reg(0, 3) == address);
    CHECK(rig.reg(0, 4) == whole_word);
    CHECK(!rig.machine->cpus[0].debug.is_hyps());
    CHECK((rig.simulation.cores[0].system.get<reg::HDCR>() & arch::hdcr_hyps) == 0);
}

TEST_CASE("a CPU without breakpoints stops the machine if CPU 0 has them, unless it emulates") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const Why why = GENERATE(Why::dbgen_low, Why::no_event);
    Rig rig(options_for(engine, 2, 1));
    Conditions& conditions = rig.simulation.conditions;
    (why == Why::no_event ? conditions.no_debug_events : conditions.dbgen_low) = 1u << 1;
    rig.program(0).mov(0, at::fifo).ldr(1, 0).end();
    rig.program(1).mov(0, at::fifo).ldr(1, 0).ldr_post(1, 0, 4).end();
    rig.run();
    const bool stops = engine == abi::EngineKind::shadow;
    CHECK((rig.text().find("this CPU has no breakpoints, and CPU 0 has") != std::string::npos) ==
          stops);
    CHECK(rig.simulation.cores[1].ended == !stops);
    if (!stops) CHECK(refused(rig) == 1);
}

TEST_CASE("a CPU that comes back without debug events stops the machine, unless it emulates") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    Rig rig(options_for(engine, 2, 1));
    Code(rig.simulation.ram, at::kernel).end(); // CPU 1 does nothing
    bool back = false;
    rig.on_end(0, [&](Core&, mmioscope::Cpu&) { // CPU 0 acts as CPU 1 here
        for (unsigned n = 0; n < 10'000; ++n) rig.simulation.scheduler.point();
        rig.simulation.conditions.no_debug_events = ~0u;
        rig.machine->power.prepare(1, CpuPower::off, {at::kernel, 0});
        start_by_firmware(*rig.machine, rig.machine->cpus[1]);
        back = true;
        CHECK(!rig.machine->cpus[1].debug.usable());
    });
    rig.run();
    CHECK(back == (engine == abi::EngineKind::emulation));
    CHECK((rig.text().find("this CPU has no breakpoints, and CPU 0 has") == std::string::npos) ==
          back);
}

TEST_CASE("the trial of a breakpoint leaves nothing behind in the guest's registers") {
    const std::uint32_t no_events = GENERATE(0u, ~0u);
    RigOptions options = options_for(abi::EngineKind::shadow, 1, 1);
    options.conditions.no_debug_events = no_events;
    Rig rig(options);
    Code(rig.simulation.ram, at::kernel).end();
    Core& core = rig.simulation.cores[0];
    core.system.set<reg::DBGDSCR>(0x1c); // MOE, as an earlier event left it
    rig.on_end(0, [&](Core&, mmioscope::Cpu& cpu) {
        CHECK(!cpu.debug.is_hyps());
        CHECK(core.system.get<reg::DBGDSCR>() == 0x1c);
        CHECK(core.system.get<reg::DBGOSLSR>() == 2); // as at reset
        for (unsigned n = 0; n < 6; ++n) CHECK(core.system.get(encode32(14, 0, 0, n, 5)) == 0);
        CHECK((core.system.get<reg::HDCR>() & 0xf00) == 0);
        CHECK(core.system.get<reg::VBAR>() == 0);
        CHECK((core.system.get<reg::HCR>() & arch::hcr_vm) != 0);
        CHECK(core.frame.pc == at::kernel);
    });
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(core.ended);
}

TEST_CASE("a CPU with breakpoints steps as CPU 0 does, which has none") {
    Rig rig(without_breakpoints("", Why::dbgen_low, 2));
    rig.simulation.conditions.dbgen_low = 1;
    for (unsigned cpu = 0; cpu < 2; ++cpu)
        rig.program(cpu).mov(0, at::fifo).ldr_post(1, 0, 4).end();
    rig.run();
    check_trace(rig, 2);
    CHECK(!rig.machine->cpus[1].debug.usable());
}
