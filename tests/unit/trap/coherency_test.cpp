// ACTLR.SMP, if firmware lets the guest write it (NSACR.NS_SMP): the CPU stays in the coherency
// domain while Hyp shares memory with the others, and leaves it to sleep.
#include "arch/control.hpp"
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"
#include "trap/dispatch.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr std::uint32_t smp = 0x40;
constexpr std::uint32_t read_actlr_r3 = 0xee11'3f30;
constexpr std::uint32_t read_actlr_r4 = 0xee11'4f30;
constexpr std::uint32_t write_actlr_r1 = 0xee01'1f30;

RigOptions options_where(bool smp_is_guests, unsigned cpus, std::uint64_t seed,
                         abi::EngineKind engine = abi::EngineKind::shadow) {
    RigOptions options = options_for(engine, cpus, seed);
    options.conditions.smp_is_guests = smp_is_guests;
    return options;
}

bool in_hardware(const Rig& rig, unsigned cpu) {
    return rig.simulation.cores[cpu].coherent();
}

} // namespace

TEST_CASE("a CPU whose guest has cleared ACTLR.SMP still shares locks and rings", "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(engine, seed);
        Rig rig(options_where(true, 2, seed, engine));
        for (unsigned cpu = 0; cpu < 2; ++cpu) {
            Code code = rig.program(cpu);
            code.mov(1, 0).word(write_actlr_r1);
            write_hammer(code, 20);
        }
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(compare_with_bus(rig) == "");
        for (unsigned cpu = 0; cpu < 2; ++cpu) CHECK(in_hardware(rig, cpu));
    }
}

TEST_CASE("the guest reads from ACTLR what it wrote") {
    Rig rig(options_where(true, 1, GENERATE(range(1, 6))));
    Code code = rig.program(0);
    code.mov(1, 0).word(write_actlr_r1).word(read_actlr_r3);
    code.mov(1, smp).word(write_actlr_r1).word(read_actlr_r4).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 3) == 0);
    CHECK(rig.reg(0, 4) == smp);
    CHECK(in_hardware(rig, 0));
}

TEST_CASE("a CPU leaves the coherency domain when it sleeps, if its guest has asked for it") {
    const bool asked = GENERATE(true, false);
    const bool takes_back = GENERATE(true, false);
    Rig rig(options_where(true, 2, GENERATE(range(1, 6))));
    Code code = rig.program(0);
    code.mov(1, asked ? 0 : smp).word(write_actlr_r1);
    if (takes_back) code.mov(1, smp).word(write_actlr_r1);
    code.wfi().word(read_actlr_r3).mov(0, at::fifo).ldr(2, 0).end();
    write_hammer(rig.program(1), 20);
    rig.run();
    const bool leaves = asked && !takes_back;
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].ended);
    CHECK(rig.simulation.cores[0].left_coherency == (leaves ? 1 : 0));
    CHECK(rig.simulation.cores[1].left_coherency == 0);
    CHECK(rig.reg(0, 3) == (leaves ? 0 : smp));
    CHECK(in_hardware(rig, 0));
    CHECK(compare_with_bus(rig) == "");
}

TEST_CASE("where firmware keeps ACTLR.SMP to itself, the guest's use of ACTLR does not trap") {
    Rig rig(options_where(false, 1, 1));
    rig.program(0).mov(1, 0).word(write_actlr_r1).word(read_actlr_r3).wfi().end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.ring(0).statistics.traps == 0);
    CHECK(rig.reg(0, 3) == smp);
}

TEST_CASE("a write to ACTLR that traps although its condition fails does nothing") {
    constexpr std::uint32_t write_if_equal = 0x0f02'0420; // EC 3, IL, CV; COND 0; from r1
    constexpr std::uint32_t in_thumb = 0x0e02'0420;       // CV clear: by ITSTATE
    constexpr std::uint32_t last_if_equal = 2u << 10;     // ITSTATE 0x08
    constexpr std::uint32_t flag_z = 1u << 30;
    const bool thumb = GENERATE(false, true);
    const bool equal = GENERATE(false, true);
    Rig rig(options_where(true, 1, 1));
    bool back = false;
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        const std::uint32_t pc = core.frame.pc;
        core.frame.r[1] = 0;
        core.frame.psr = (core.frame.psr & ~flag_z) | (equal ? flag_z : 0);
        if (thumb) core.frame.psr |= arch::psr_thumb | last_if_equal;
        core.system.set<reg::HSR>(thumb ? in_thumb : write_if_equal);
        mmioscope_guest_trap(cpu, core.frame);
        core.system.settle();
        CHECK(core.frame.pc == pc + 4);
        CHECK((core.frame.psr & 0x0600'fc00) == 0); // ITSTATE has advanced
        CHECK(((core.system.get<reg::HCR>() & arch::hcr_twi) != 0) == equal);
        back = true;
    });
    rig.run();
    CHECK(back);
    CHECK(rig.failure() == "");
}

TEST_CASE("a WFI that traps although its condition fails does not sleep") {
    constexpr std::uint32_t wfi_if_equal = 0x0700'0000; // EC 1, IL, CV; COND 0
    constexpr std::uint32_t in_thumb = 0x0600'0000;     // CV clear: by ITSTATE
    constexpr std::uint32_t last_if_equal = 2u << 10;   // ITSTATE 0x08
    constexpr std::uint32_t flag_z = 1u << 30;
    const bool thumb = GENERATE(false, true);
    const bool equal = GENERATE(false, true);
    Rig rig(options_where(true, 1, 1));
    bool back = false;
    rig.on_end(0, [&](Core& core, mmioscope::Cpu& cpu) {
        const std::uint32_t pc = core.frame.pc;
        cpu.leaves_coherency = true; // so a sleep is counted
        core.frame.psr = (core.frame.psr & ~flag_z) | (equal ? flag_z : 0);
        if (thumb) core.frame.psr |= arch::psr_thumb | last_if_equal;
        core.system.set<reg::HSR>(thumb ? in_thumb : wfi_if_equal);
        mmioscope_guest_trap(cpu, core.frame);
        CHECK(core.frame.pc == pc + 4);
        back = true;
    });
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.simulation.cores[0].left_coherency == (equal ? 1 : 0));
    CHECK(back == !equal); // nobody wakes the CPU that sleeps
}
