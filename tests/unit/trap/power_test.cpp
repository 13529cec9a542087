// Registers of the board that start CPUs and end the machine, and the hypervisor's own end.
#include "abi/layout.hpp"
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"

#include <optional>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t found = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
}
} // namespace

TEST_CASE("SYS_FLAGSSET starts the other CPUs at its address, each with a power record") {
    const auto engine = GENERATE(values(engines));
    const bool traced = GENERATE(true, false);
    RigOptions options = options_for(engine, 4, 2);
    if (!traced) options.tree.trace = {"none"};
    Rig rig(options);
    for (unsigned i = 0; i < 4; ++i) rig.program(i).mov(3, 100 + i).end();
    rig.run();
    CHECK(rig.failure() == "");
    for (unsigned i = 0; i < 4; ++i) CHECK(rig.reg(i, 3) == 100 + i);
    const auto started = rig.records_of(abi::RecordType::power);
    REQUIRE(started.size() == 3);
    for (unsigned i = 0; i < 3; ++i) CHECK(started[i].value == i + 1);
    CHECK(rig.records_of(abi::RecordType::access).size() == (traced ? 1 : 0));
}

TEST_CASE("a CPU that is never started stays in Hyp and makes no access") {
    RigOptions options = options_for(abi::EngineKind::shadow, 2, 2);
    Rig rig(options);
    Code(rig.simulation.ram, at::kernel).end(); // not the prologue that starts the others
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(!rig.simulation.cores[1].ended);
    CHECK(rig.records_of(abi::RecordType::power).empty());
}

TEST_CASE("the write that switches the machine off is published before it happens") {
    Rig rig(options_for(GENERATE(values(engines)), 1, GENERATE(range(1, 6))));
    rig.program(0).mov(0, at::sysreg).mov(1, 0xc080'0000).str(1, 0, 0xa4).ldr(2, 0, 0xa4).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(!rig.simulation.cores[0].ended); // the write never returned
    CHECK(compare_with_bus(rig) == "");
    const abi::Record& last = rig.records(0).back();
    CHECK((last.flags & abi::flag_early) != 0);
    CHECK(last.value == 0xc080'0000);
    CHECK(rig.simulation.bus.log().back().address == at::sysreg + 0xa4);
}

TEST_CASE("a write to SYS_CFGCTRL that does not end the machine is recorded once, with its end") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    rig.program(0).mov(0, at::sysreg).mov(1, 0xc010'0000).str(1, 0, 0xa4).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK((rig.records(0).back().flags & abi::flag_early) == 0);
}

TEST_CASE("a panic prints one report, and no CPU executes another instruction of the guest",
          "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(abi::EngineKind::shadow, 4, seed);
        options.conditions.step_limit = 2'000'000;
        options.conditions.late_one_in = seed % 2 == 0 ? 4 : 40;
        Rig rig(options);
        const ForMemory views(rig, seed % 3 == 0 ? MemoryOf::each_cpu : MemoryOf::the_start);
        // CPU 2 traps for an impossible reason; the others run for ever, CPU 3 without a trap.
        for (unsigned i = 0; i < 3; ++i) write_hammer(rig.program(i), i == 2 ? 3 : 100'000'000);
        Code idle = rig.program(3);
        const std::uint32_t top = idle.here();
        idle.nop().b(top);
        std::size_t said_before = ~std::size_t{0};
        rig.on_end(2, [&](Core& core, Cpu& cpu) {
            said_before = rig.text().size();
            core.system.set<reg::HSR>(0x3fu << 26);
            mmioscope_guest_trap(cpu, core.frame);
        });
        // Its next instruction after the stop, which traps. A step that ends there, by its
        // breakpoint, returns to it once.
        std::optional<std::uint32_t> next[4];
        rig.simulation.meanwhile = [&](Core& core) {
            if (rig.text().size() <= said_before) return;
            if (next[core.number].value_or(core.frame.pc) != core.frame.pc)
                throw Failure{"the guest runs on behind the stop"};
            next[core.number] = core.frame.pc;
        };
        bool marked = true; // the trace area, before the last line
        rig.simulation.bus.on_arrival = [&](const BusAccess& access) {
            if (access.address == at::own_uart && rig.text().ends_with("below the roots\r\n"))
                marked &= rig.machine->area->state == abi::AreaState::panicked;
        };
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(marked);
        for (unsigned i = 0; i < 4; ++i) REQUIRE(rig.simulation.scheduler.ended(i));
        REQUIRE(count(rig.text(), abi::stop_line) == 1);
        REQUIRE(count(rig.text(), "unexpected exception class on CPU 2\r\n") == 1);
        REQUIRE(count(rig.text(), "mmioscope: end of report") == 1);
        REQUIRE(count(rig.text(), "record -7: type 1") == 1);
        REQUIRE(rig.machine->area->state == abi::AreaState::panicked);
        for (const View& view : rig.machine->all_views())
            for (std::uint64_t address = 0; address < 0x1'0000'0000; address += 0x4000'0000)
                REQUIRE(!walk(rig.simulation.ram, view.root().value, address).valid());
    }
}
