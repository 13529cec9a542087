// A CPU's first view of stage 2, from a TLB and an instruction cache that are UNKNOWN.
#include "catch_2_or_3.hpp"
#include "mm/guest_view.hpp"
#include "port/memory.hpp"
#include "sim/simulation.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

/// What start() alone must guarantee, up to the ERET; empty if it did.
std::string start_view(std::uint64_t seed) {
    constexpr PhysicalAddress nothing_mapped{0x8050'0000};
    constexpr std::uint32_t page = 0x1c13'0000;
    Conditions conditions;
    conditions.seed = seed;
    Simulation simulation(conditions);
    simulation.speculated = {page};
    simulation.leave_everything_mapped();
    std::string wrong;
    simulation.scheduler.add([&] {
        Core& core = simulation.cores[0];
        core.system.set<reg::HCR>(1);
        const View nothing(port::memory_at<lpae::Descriptor>(nothing_mapped));
        GuestView view;
        view.start(nothing);
        simulation.synchronize(core); // the ERET
        if (core.tlb.translate(core.regime(), page, 1).stop == Route::Stop::none)
            wrong = "start: a translation from before is still there";
        if (core.icache_unknown) wrong = "start: the instruction cache was never invalidated";
    });
    simulation.scheduler.run();
    return simulation.scheduler.failure() + wrong;
}

} // namespace

TEST_CASE("the first view of a CPU holds nothing from before", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(200); ++seed) {
        CAPTURE(seed);
        REQUIRE(start_view(seed) == "");
    }
}
