// How long CPUs wait for a lock without fairness, depending on the schedule: every wait ends, and
// the costs are printed (--success shows them).
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/storm.hpp"

#include <algorithm>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr unsigned cpus = 4;
constexpr unsigned rounds = 15;

/// Times between a CPU's accesses, in steps of the simulation, and its progress when the first CPU
/// finished.
struct Waits {
    std::uint64_t worst{};
    std::uint64_t smallest_share{100}; ///< percent of its accesses
};

Waits measure(const Rig& rig) {
    std::vector<std::uint64_t> times[cpus];
    for (const BusAccess& a : rig.simulation.bus.log())
        if (a.address == hammer_fifo || a.address == hammer_gadget) times[a.cpu].push_back(a.time);
    std::uint64_t first_through = ~std::uint64_t{0};
    for (const auto& of_cpu : times) first_through = std::min(first_through, of_cpu.back());
    Waits waits;
    for (const auto& of_cpu : times) {
        for (std::size_t i = 1; i < of_cpu.size(); ++i)
            waits.worst = std::max(waits.worst, of_cpu[i] - of_cpu[i - 1]);
        const auto done = std::upper_bound(of_cpu.begin(), of_cpu.end(), first_through);
        waits.smallest_share = std::min<std::uint64_t>(
            waits.smallest_share, 100 * (done - of_cpu.begin()) / of_cpu.size());
    }
    return waits;
}

} // namespace

TEST_CASE("four CPUs at one lock all get it, and none waits long", "[protocol]") {
    const auto engine = GENERATE(abi::EngineKind::shadow, abi::EngineKind::emulation);
    Waits over_all;
    std::uint64_t most_retries = 0;
    for (std::uint64_t seed = 1; seed <= seeds(6); ++seed) {
        CAPTURE(seed);
        RigOptions options = options_for(engine, cpus, seed);
        options.conditions.steps_per_tick = 1;
        options.conditions.switch_one_in = 3;
        Rig rig(options);
        for (unsigned i = 0; i < cpus; ++i) write_hammer(rig.program(i), rounds);
        rig.run();
        REQUIRE(judge_machine(rig) == "");
        for (unsigned i = 0; i < cpus; ++i) {
            REQUIRE(rig.simulation.cores[i].ended);
            most_retries = std::max(most_retries, rig.ring(i).statistics.retries);
        }
        const Waits waits = measure(rig);
        over_all.worst = std::max(over_all.worst, waits.worst);
        over_all.smallest_share = std::min(over_all.smallest_share, waits.smallest_share);
    }
    WARN("worst wait " << over_all.worst << " steps, smallest share " << over_all.smallest_share
                       << " %, most retries of a CPU " << most_retries);
    // Test-and-set promises no share, only that no CPU is left behind for ever.
    CHECK(over_all.worst < 60'000);
    CHECK(most_retries <= 10);
}
