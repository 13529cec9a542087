// A store with a late error: an asynchronous external abort, masked during the step like an
// interrupt, pending after it, and then taken by the guest (ARM ARM B1.9.8).
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
constexpr std::uint32_t asynchronous_external = 0x406; // DFSR, short-descriptor format
constexpr std::uint32_t psr_masks = arch::psr_aif;

void break_late(Rig& rig) {
    rig.simulation.bus.attach({at::wide, at::wide + 0x1000}, std::make_unique<LateBroken>());
}

/// The store, with its address in r0: one that HSR describes, or one that it does not.
Code& store(Code& code, bool described) {
    return described ? code.str(2, 0, 8) : code.str_post(2, 0, 8);
}

/// Sets CPSR's masks to `masks`, of CPSR.A, I and F.
Code& mask(Code& code, std::uint32_t masks) {
    code.cpsie_aif();
    return masks != 0 ? code.word(0xf10c'0000 | masks) : code;
}

void check_trace(const Rig& rig) {
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.records_of(abi::RecordType::access).size() == 2);
    CHECK(rig.records_of(abi::RecordType::fault).empty());
    CHECK(rig.ring(0).statistics.abnormal == 0);
}

} // namespace

TEST_CASE("an abort that comes late is taken right after the step of its store") {
    const auto engine = GENERATE(values(engines));
    const bool described = GENERATE(true, false);
    const std::uint32_t masks = GENERATE(0u, 0x80u, 0x40u, 0xc0u); // of I and F
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        CAPTURE(engine, described, masks, seed);
        Rig rig(options_for(engine, 1, seed));
        break_late(rig);
        Code code = rig.program(0);
        code.mov(0, at::wide).mov(2, 7);
        mask(code, masks);
        const std::uint32_t pc = code.here();
        store(code, described).nop().ldr(1, 0).end(); // the handler returns after the nop
        rig.run();
        Core& core = rig.simulation.cores[0];
        REQUIRE(rig.failure() == ""); // "an interrupt was taken on a shadow table", for one
        check_trace(rig);
        CHECK(rig.reg(0, 9) == 1);                                  // the handler ran, once,
        CHECK(core.bank(port::Banked::lr_abt) == pc + 4 + 8);       // before the next instruction,
        CHECK(core.bank(port::Banked::spsr_abt) == (0x13 | masks)); // out of the guest's own state
        CHECK(core.system.get<reg::DFSR>() == asynchronous_external);
        CHECK((core.frame.psr & psr_masks) == masks);
    }
}

TEST_CASE("an abort that comes late waits as long as the guest masks it") {
    const auto engine = GENERATE(values(engines));
    const bool described = GENERATE(true, false);
    const std::uint32_t masks = GENERATE(0x100u, 0x180u, 0x140u, 0x1c0u);
    for (std::uint64_t seed = 1; seed <= seeds(3); ++seed) {
        CAPTURE(engine, described, masks, seed);
        Rig rig(options_for(engine, 1, seed));
        break_late(rig);
        Code code = rig.program(0);
        code.mov(0, at::wide).mov(2, 7);
        mask(code, masks);
        store(code, described).ldr(1, 0); // another step in between
        code.word(0xf108'0100);           // cpsie a
        const std::uint32_t opened = code.here();
        code.nop().end();
        rig.run();
        Core& core = rig.simulation.cores[0];
        check_trace(rig);
        CHECK(rig.reg(0, 9) == 1);
        CHECK(core.bank(port::Banked::lr_abt) == opened + 8);
        CHECK(core.bank(port::Banked::spsr_abt) == (0x13 | (masks & ~0x100u)));
        CHECK(core.system.get<reg::DFSR>() == asynchronous_external);
        CHECK(!core.abort_pending);
    }
}
