// Random programs, run once with nothing traced and once with everything: the guest must not
// notice.
#include "catch_2_or_3.hpp"
#include "sim/judge.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

struct Run {
    std::unique_ptr<Rig> rig;
    std::vector<BusAccess> devices; ///< without times
};

/// One access of a random form to a random device, one in sixteen unaligned.
void write_access(Code& code, Random& random) {
    constexpr std::uint32_t bases[] = {at::fifo,      at::fifo + 0x800, at::gadget + 0xf8,
                                       at::neighbour, at::wide + 0xff8, at::wide + 0x1ff0,
                                       at::console,   at::broken};
    const unsigned device = static_cast<unsigned>(random.below(8));
    const auto skew = static_cast<std::uint32_t>(random.one_in(16) ? random.below(4) : 0);
    code.mov(0, bases[device] + skew);
    const auto reg = static_cast<unsigned>(1 + random.below(7));
    const auto offset = static_cast<unsigned>(4 * random.below(2));
    const auto list = static_cast<std::uint32_t>(2 * (1 + random.below(0x7f)));
    switch (random.below(16)) {
    case 0: code.ldr(reg, 0, offset); break;
    case 1: code.str(reg, 0, offset); break;
    case 2: code.ldrb(reg, 0, offset + 1); break;
    case 3: code.strb(reg, 0, offset + 3); break;
    case 4: code.ldrh(reg, 0, offset + 2); break;
    case 5: code.strh(reg, 0, offset); break;
    case 6: code.ldrsb(reg, 0, offset); break;
    case 7: code.ldrsh(reg, 0, offset); break;
    case 8: code.ldrd(reg & 6, 0, 0); break;
    case 9: code.strd(2 + (reg & 2), 0, 0); break;
    case 10: code.ldr_post(reg, 0, 4); break;
    case 11: code.str_post(reg, 0, 8); break;
    case 12: code.ldm(0, list); break;
    case 13: code.stm(0, list); break;
    case 14: code.word(0xe8b0'0000 | list); break; // ldm r0!, list
    default: code.word(0xe8a0'0000 | list); break; // stm r0!, list
    }
    if (random.one_in(4)) code.subs(reg, reg, 1); // flags change, too
}

Run run(abi::EngineKind engine, std::uint64_t seed, bool traced) {
    RigOptions options = options_for(engine, 1, seed);
    (seed % 8 == 0 ? options.conditions.no_debug_events : options.conditions.dbgen_low) =
        seed % 4 == 0 ? ~0u : 0;
    if (!traced) options.tree.trace = {"none"};
    Run result{std::make_unique<Rig>(options), {}};
    Random random(seed);
    Code code = result.rig->program(0);
    for (unsigned i = 0; i < 40; ++i) write_access(code, random);
    code.end();
    result.rig->run();
    for (BusAccess a : result.rig->bus_log(0x1000'0000, 0x1000'0000)) {
        if (a.address >= at::own_uart && a.address < at::own_uart + page_size) continue;
        a.time = 0;
        a.by_hypervisor = false;
        result.devices.push_back(a);
    }
    return result;
}

/// After an LDM that aborts in its middle, records of earlier words are not defined.
bool aborted_midway(const Rig& rig) {
    return rig.ring(0).statistics.abnormal > 0;
}

} // namespace

TEST_CASE("a random program has the same accesses and registers traced as untraced") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        const Run native = run(engine, seed, false);
        const Run traced = run(engine, seed, true);
        REQUIRE(native.rig->failure() == "");
        REQUIRE(traced.rig->failure() == "");
        for (unsigned n = 0; n < 13; ++n) {
            CAPTURE(n);
            REQUIRE(native.rig->reg(0, n) == traced.rig->reg(0, n));
        }
        REQUIRE(native.rig->simulation.cores[0].frame.psr ==
                traced.rig->simulation.cores[0].frame.psr);
        REQUIRE(native.devices == traced.devices);
        if (!aborted_midway(*traced.rig)) REQUIRE(compare_with_bus(*traced.rig) == "");
    }
}
