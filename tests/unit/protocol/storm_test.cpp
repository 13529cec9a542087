// The TLB protocol (docs/tlb.md) under unmap storms.
#include "catch_2_or_3.hpp"
#include "sim/storm.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};
} // namespace

TEST_CASE("no unmap storm makes a CPU miss an access or use a translation too long", "[protocol]") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(12); ++seed) {
        const unsigned cpus = seed % 3 == 0 ? 4 : 2;
        CAPTURE(seed, cpus);
        RigOptions options = options_for(engine, cpus, seed);
        options.conditions.interrupt_one_in = seed % 4 == 0 ? 40 : 0;
        options.conditions.dbgen_low = seed % 5 == 0 ? ~0u : 0;
        Rig rig(options);
        write_storm(rig, 60, seed);
        rig.run();
        REQUIRE(judge_storm(rig) == "");
    }
}
