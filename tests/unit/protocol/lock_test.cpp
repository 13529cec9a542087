// Region locks alone, on memory that keeps only the order that barriers require.
#include "catch_2_or_3.hpp"
#include "sim/simulation.hpp"
#include "trace/region_lock.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

Conditions conditions_for(std::uint64_t seed) {
    Conditions conditions;
    conditions.cpus = 4;
    conditions.seed = seed;
    conditions.switch_one_in = 2;
    conditions.late_one_in = seed % 2 == 0 ? 4 : 30;
    conditions.step_limit = 400'000;
    return conditions;
}

OwnerSet set_of(RegionLocks& locks, std::initializer_list<std::uint16_t> regions) {
    OwnerSet set;
    for (const std::uint16_t region : regions) set.add(locks.of(region));
    return set;
}

/// Four CPUs take numbers from two regions; each number must be given once.
std::string count_under_locks(std::uint64_t seed) {
    constexpr unsigned rounds = 10;
    Simulation simulation(conditions_for(seed));
    const auto locks = std::make_unique<RegionLocks>();
    std::vector<std::uint32_t> given[2];
    for (unsigned cpu = 0; cpu < 4; ++cpu)
        simulation.scheduler.add([&, cpu] {
            HeldLocks held;
            std::uint64_t spins = 0;
            for (unsigned round = 0; round < rounds;) {
                if (!held.acquire(set_of(*locks, {0, 1}), cpu, spins)) continue;
                for (const std::uint16_t region : {0, 1})
                    given[region].push_back(held.next_sequence(locks->of(region)));
                held.release();
                ++round;
            }
            simulation.complete_system();
        });
    simulation.scheduler.run();
    if (!simulation.scheduler.failure().empty()) return simulation.scheduler.failure();
    for (const auto& numbers : given)
        for (std::uint32_t i = 0; i < 4 * rounds; ++i)
            if (numbers[i] != i + 1) return "lock: a number was given twice, or out of order";
    return "";
}

/// A CPU that cannot get all of its locks must not keep some.
std::string give_up() {
    Simulation simulation(conditions_for(1));
    const auto locks = std::make_unique<RegionLocks>();
    std::string wrong;
    simulation.scheduler.add([&] {
        HeldLocks other;
        HeldLocks held;
        std::uint64_t spins = 0;
        while (!other.acquire(set_of(*locks, {5}), 1, spins)) {
        }
        if (held.acquire(set_of(*locks, {2, 5, 9}), 0, spins)) wrong = "lock: held twice";
        simulation.complete_system();
        for (const std::uint16_t region : {2, 9})
            if (locks->of(region).lock.owner() != Lock::no_owner)
                wrong = "lock: kept though others could not be had";
    });
    simulation.scheduler.run();
    return simulation.scheduler.failure() + wrong;
}

/// All locks, or none.
std::string give_up_all() {
    Simulation simulation(conditions_for(1));
    const auto locks = std::make_unique<RegionLocks>();
    std::string wrong;
    simulation.scheduler.add([&] {
        HeldLocks other;
        HeldLocks held;
        std::uint64_t spins = 0;
        while (!other.acquire(set_of(*locks, {3}), 1, spins)) {
        }
        if (held.acquire_others(*locks, 4, 0, spins)) wrong = "lock: held twice";
        held.release_others();
        simulation.complete_system();
        for (const std::uint16_t region : {0, 1, 2})
            if (locks->of(region).lock.owner() != Lock::no_owner)
                wrong = "lock: kept though others could not be had";
    });
    simulation.scheduler.run();
    return simulation.scheduler.failure() + wrong;
}

} // namespace

TEST_CASE("data that a region lock protects is seen by the next holder", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(30); ++seed) {
        CAPTURE(seed);
        REQUIRE(count_under_locks(seed) == "");
    }
}

TEST_CASE("locks that cannot all be taken are all released", "[protocol]") {
    REQUIRE(give_up() == "");
    REQUIRE(give_up_all() == "");
}
