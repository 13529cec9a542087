// What else can happen in a step: interrupts, external aborts, the end of mapped memory.
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

#include <catch2/catch.hpp>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr std::uint32_t last_word = 0x81ff'fffc; // behind it: the hypervisor's image, unmapped
} // namespace

TEST_CASE("interrupts that come during a step are taken behind it, none is lost") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(10); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(engine, 1, seed);
        options.conditions.interrupt_one_in = 4;
        Rig rig(options);
        write_hammer(rig.program(0), 20);
        rig.run();
        REQUIRE(rig.failure() == ""); // "an interrupt was taken on a shadow table", for one
        REQUIRE(compare_with_bus(rig) == "");
        const std::uint32_t irqs = rig.reg(0, 11);
        const std::uint32_t fiqs = rig.simulation.cores[0].bank(port::Banked::r8_fiq);
        REQUIRE(irqs + fiqs == rig.simulation.interrupts_taken);
        REQUIRE(irqs > 10);
        REQUIRE(fiqs > 10);
        REQUIRE((rig.simulation.cores[0].frame.psr & 0x1c0) ==
                0); // open again, as the guest left them
    }
}

TEST_CASE("an access that the bus answers with an error is the guest's own data abort") {
    const auto engine = GENERATE(values(engines));
    Rig rig(options_for(engine, 1, 1));
    const std::uint32_t masks = GENERATE(0u, 0x80u, 0x40u, 0x100u, 0x1c0u);
    Code code = rig.program(0);
    code.mov(0, at::broken).mov(4, at::fifo);
    code.word(0xf108'01c0); // cpsie aif
    if (masks != 0) code.word(0xf10c'0000 | masks); // cpsid
    const std::uint32_t pc = code.here();
    code.ldr(1, 0, 8).ldr(2, 4).end();
    rig.run();
    Core& core = rig.simulation.cores[0];
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 1); // the handler ran
    CHECK(core.bank(port::Banked::lr_abt) == pc + 8);
    CHECK((core.bank(port::Banked::spsr_abt) & 0x1ff) == (0x13 | masks));
    CHECK(core.system.get<reg::DFSR>() == 0x08);
    CHECK(core.system.get<reg::DFAR>() == at::broken + 8);
    CHECK((core.frame.psr & 0x1c0) == masks); // after the handler's return
    CHECK(rig.reg(0, 2) == 0x8004'8083);
    const auto faults = rig.records_of(abi::RecordType::fault);
    REQUIRE(faults.size() == 1);
    CHECK(abi::physical_address(faults[0]) == at::broken + 8);
    CHECK(faults[0].value == static_cast<std::uint64_t>(abi::FaultReason::external_abort));
    CHECK(rig.ring(0).statistics.abnormal == (engine == abi::EngineKind::shadow ? 1 : 0));
}

TEST_CASE("an access before an unmapped page was done, whichever exception comes first behind it") {
    RigOptions options = options_for(GENERATE(values(engines)), 1, 1);
    options.conditions.prefetch_abort_first = GENERATE(false, true);
    CAPTURE(options.conditions.prefetch_abort_first);
    Rig rig(options);
    rig.program(0).mov(0, at::fifo).mov(12, last_word).bx(12);
    Code(rig.simulation.ram, last_word).ldr(1, 0);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 1) == 0x8004'8083);
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.simulation.cores[0].bank(port::Banked::lr_abt) ==
          last_word + 8); // the guest's own abort
}

TEST_CASE("a breakpoint or an OS lock of the guest does not disturb a step") {
    const std::uint32_t lock = GENERATE(0u, 0xc5ac'ce55u);
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    Code code = rig.program(0);
    const std::uint32_t load = code.here() + 4 * 14;
    code.mov(1, 0).word(0xee01'1e90);     // DBGOSLAR: unlocked
    code.mov(1, load).word(0xee00'1e95);  // mcr p14, 0, r1, c0, c5, 4: DBGBVR5
    code.mov(1, 0x1e7).word(0xee00'1eb5); // mcr p14, 0, r1, c0, c5, 5: DBGBCR5, enabled
    code.mov(1, lock).word(0xee01'1e90);  // mcr p14, 0, r1, c1, c0, 4: DBGOSLAR
    code.mov(0, at::fifo);
    REQUIRE(code.here() == load);
    code.ldr(2, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 2) == 0x8004'8083);
    CHECK(compare_with_bus(rig) == "");
    const Registers& system = rig.simulation.cores[0].system;
    CHECK(system.get<reg::DBGBCR<5>>() == 0x1e7);
    CHECK(system.get<reg::DBGOSLSR>() == (lock != 0 ? 2 : 0));
}

TEST_CASE("the guest's debug registers are as it left them after a step") {
    Rig rig(options_for(abi::EngineKind::shadow, 1, 1));
    Code code = rig.program(0);
    code.mov(1, 0).word(0xee01'1e90); // DBGOSLAR: unlocked
    for (unsigned n = 0; n < 6; ++n) {
        code.mov(1, 0x9000'0000 + 16 * n).word(0xee00'1e90 | n);        // mcr p14, 0, r1, c0, cN, 4
        code.mov(1, 0x0000'01e4 | (n & 1)).word(0xee00'1eb0 | n);       // mcr p14, 0, r1, c0, cN, 5
    }
    code.mov(0, at::fifo).ldr(1, 0).strd(2, 0, 8).end();
    rig.run();
    CHECK(rig.failure() == "");
    Registers& system = rig.simulation.cores[0].system;
    for (unsigned n = 0; n < 6; ++n) {
        CHECK(system.get(encode32(14, 0, 0, n, 4)) == 0x9000'0000 + 16 * n);
        CHECK(system.get(encode32(14, 0, 0, n, 5)) == (0x0000'01e4u | (n & 1)));
    }
    CHECK(system.get<reg::DBGDSCR>() == 0);
    CHECK((system.get<reg::HDCR>() & 0xf00) == 0);
}

TEST_CASE("an unaligned access is the guest's own alignment fault, and no access") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    rig.program(0).mov(0, at::fifo).ldr(1, 0, 2).ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 1);
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == 1);
}
