// What else can happen during a step: interrupts, external aborts, the end of mapped memory.
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr std::uint32_t last_word = 0x81ff'fffc; // the hypervisor's unmapped image follows
} // namespace

TEST_CASE("interrupts during a step are taken after it, and none is lost") {
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
    code.word(0xf108'01c0);                         // cpsie aif
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

TEST_CASE("an access before an unmapped page is done, whichever exception comes first after it") {
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

TEST_CASE("an unaligned access is the guest's own alignment fault, and not recorded as an access") {
    Rig rig(options_for(GENERATE(values(engines)), 1, 1));
    rig.program(0).mov(0, at::fifo).ldr(1, 0, 2).ldr(1, 0).end();
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(rig.reg(0, 9) == 1);
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == 1);
}
