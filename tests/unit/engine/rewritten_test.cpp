// The instruction executed again differs from the one that trapped, because it was rewritten
// meanwhile. If it does not lead to the step's breakpoint, the first access to CP15 ends the step.
#include "arch/control.hpp"
#include "sim/judge.hpp"

#include "catch_2_or_3.hpp"
#include "trap/fast_path.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

TEST_CASE("a guest that runs on in a step is stopped where it uses CP15, and continues there",
          "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    const std::uint32_t cp15 =
        GENERATE(0xee1d'3f70,  // MRC TPIDRURO, r3
                 0xee0d'3f90,  // MCR TPIDRPRW, r3
                 0xee11'3f30); // MRC ACTLR, r3, which may trap by itself, too
    const bool smp_is_guests = GENERATE(false, true);
    RigOptions options = options_for(engine, 1, GENERATE(range(1, 4)));
    options.conditions.smp_is_guests = smp_is_guests;
    CAPTURE(engine, cp15, smp_is_guests, options.conditions.seed);
    Rig rig(options);
    rig.simulation.may_run_on = 100;

    Code code = rig.program(0);
    code.mov(0, at::wide).mov(4, 44).mov(7, 5).set_task(7).mov(3, 3);
    const std::uint32_t load = code.here();
    code.ldr_post(1, 0, 4);
    const std::uint32_t behind = code.here();
    code.str(4, 0, 8).end();
    const std::uint32_t elsewhere = code.here();
    code.word(cp15).str(4, 0, 16).str(4, 0, 20);
    const std::uint32_t back = code.here();
    code.b(load);

    Simulation& simulation = rig.simulation;
    const std::uint32_t original = 0xe490'1004;
    const std::uint32_t branch = 0xea00'0000 | (((elsewhere - load - 8) >> 2) & 0xff'ffff);
    bool rewritten = false;
    simulation.meanwhile = [&](const Core& core) {
        if (!rewritten && in_step(rig.machine->cpus[0]) && core.frame.pc == load) {
            simulation.ram.store(load, branch);
            rewritten = true;
        }
        if (core.frame.pc == back) simulation.ram.store(load, original);
    };
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rewritten);
    CHECK(compare_with_bus(rig) == "");
    // A fault for the load that did not happen, then every access that did: made again, the load
    // is not refused.
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == 1);
    CHECK(faults[0].value == static_cast<std::uint64_t>(abi::FaultReason::step_ended_abnormally));
    CHECK(faults[0].pc == load);
    CHECK(rig.records_of(abi::RecordType::access).size() == 4);
    CHECK(rig.ring(0).statistics.abnormal == 1);
    CHECK(rig.reg(0, 0) == at::wide + 4);
    if (cp15 == 0xee1d'3f70) CHECK(rig.reg(0, 3) == 5);
    CHECK(simulation.cores[0].frame.pc == behind + 4);
    CHECK(simulation.cores[0].system.get<reg::HSTR>() == 0);
}

TEST_CASE("CP15 is the guest's own except during a step, and VBAR before the first step") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    unsigned steps = 0;
    rig.simulation.meanwhile = [&](const Core& core) {
        const bool armed = in_step(rig.machine->cpus[0]);
        steps += armed ? 1 : 0;
        const std::uint32_t between = steps != 0 ? arch::hstr_vbar : 0;
        CHECK(core.system.get<reg::HSTR>() == (armed ? 0xbfefu : between));
    };
    rig.program(0).mov(0, at::wide).ldr(1, 0).ldr(2, 0, 4).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(steps >= 2);
}

TEST_CASE("a BKPT in place of the instruction is the guest's own, with its interrupts as they were",
          "[protocol]") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    Code code = rig.program(0);
    code.cpsie_aif().mov(0, at::wide);
    const std::uint32_t load = code.here();
    code.ldr(1, 0).end();
    std::uint32_t undefined_psr = 0;
    rig.simulation.meanwhile = [&](Core& core) {
        if (!in_step(rig.machine->cpus[0]) || core.frame.pc != load) return;
        rig.simulation.ram.store(load, 0xe120'0070u);
        undefined_psr = core.bank(port::Banked::spsr_und);
    };
    rig.run();
    Core& core = rig.simulation.cores[0];
    CHECK(rig.failure() == "");
    CHECK((core.bank(port::Banked::spsr_abt) & 0x1ff) == 0x13);
    CHECK(core.bank(port::Banked::lr_abt) == load + 4);
    CHECK(core.bank(port::Banked::spsr_und) == undefined_psr);
    CHECK(rig.records_of(abi::RecordType::fault).size() == 1);
}
