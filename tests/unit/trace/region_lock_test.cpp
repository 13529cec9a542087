#include "trace/region_lock.hpp"

#include "catch_2_or_3.hpp"
#include "sim/bench.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
RegionSet set_of(std::initializer_list<std::uint16_t> regions) {
    RegionSet set;
    for (const std::uint16_t region : regions) set.add(region);
    return set;
}
} // namespace

TEST_CASE("a set of regions holds each once, in the lock order") {
    const RegionSet set = set_of({7, 3, 7, 300, 3, 0});
    const std::vector<std::uint16_t> found(set.begin(), set.end());
    CHECK(found == std::vector<std::uint16_t>{0, 3, 7, 300});
}

TEST_CASE("locks know their owner, and are free after release") {
    Bench bench;
    auto locks = std::make_unique<RegionLocks>();
    HeldLocks held;
    std::uint64_t spins = 0;
    REQUIRE(held.acquire(*locks, set_of({5, 2}), 3, spins));
    CHECK(held.held());
    CHECK(locks->of(2).lock.owner() == 3);
    CHECK(locks->of(5).lock.owner() == 3);
    CHECK(locks->of(4).lock.owner() == Lock::no_owner);
    held.release();
    CHECK(!held.held());
    CHECK(locks->of(2).lock.owner() == Lock::no_owner);
    CHECK(spins == 0);
}

TEST_CASE("waiting is bounded, and locks already taken are released") {
    Bench bench;
    auto locks = std::make_unique<RegionLocks>();
    HeldLocks other;
    HeldLocks held;
    std::uint64_t spins = 0;
    REQUIRE(other.acquire(*locks, set_of({5}), 1, spins));
    CHECK(!held.acquire(*locks, set_of({2, 5, 9}), 3, spins));
    CHECK(spins >= 1000);
    CHECK(!held.held());
    CHECK(locks->of(2).lock.owner() == Lock::no_owner);
    CHECK(locks->of(9).lock.owner() == Lock::no_owner);
    CHECK(locks->of(5).lock.owner() == 1);
    other.release();
    CHECK(held.acquire(*locks, set_of({2, 5, 9}), 3, spins));
}

TEST_CASE("each region counts its own accesses") {
    Bench bench;
    auto locks = std::make_unique<RegionLocks>();
    HeldLocks held;
    std::uint64_t spins = 0;
    REQUIRE(held.acquire(*locks, set_of({1, 2}), 0, spins));
    CHECK(held.next_sequence(1) == 1);
    CHECK(held.next_sequence(1) == 2);
    CHECK(held.next_sequence(2) == 1);
    held.release();
    REQUIRE(held.acquire(*locks, set_of({2}), 1, spins));
    CHECK(held.next_sequence(2) == 2);
}

TEST_CASE("a sequence number without its lock, and a second release, stop the machine") {
    Bench bench;
    auto locks = std::make_unique<RegionLocks>();
    HeldLocks held;
    std::uint64_t spins = 0;
    CHECK_THROWS_AS(held.release(), Halted);
    REQUIRE(held.acquire(*locks, set_of({1}), 0, spins));
    CHECK_THROWS_AS(held.next_sequence(2), Halted);
}

TEST_CASE("regions beyond the table share a lock that no other region has") {
    auto locks = std::make_unique<RegionLocks>();
    CHECK(&locks->of(abi::no_device) == &locks->of(abi::max_regions));
    CHECK(&locks->of(abi::max_regions) != &locks->of(abi::max_regions - 1));
}

TEST_CASE("under any schedule one CPU at a time holds a lock, and none waits for ever") {
    for (std::uint64_t seed = 1; seed <= seeds(20); ++seed) {
        CAPTURE(seed);
        Conditions conditions;
        conditions.cpus = 4;
        conditions.seed = seed;
        conditions.switch_one_in = 2;
        Simulation simulation(conditions);
        auto locks = std::make_unique<RegionLocks>();
        int holders[4] = {};
        unsigned taken = 0;
        for (unsigned cpu = 0; cpu < 4; ++cpu)
            simulation.scheduler.add([&, cpu] {
                for (unsigned round = 0; round < 20;) {
                    Random random(seed * 100 + cpu * 20 + round);
                    HeldLocks held;
                    RegionSet set;
                    for (unsigned i = 0; i < 2; ++i)
                        set.add(static_cast<std::uint16_t>(random.below(4)));
                    std::uint64_t spins = 0;
                    if (!held.acquire(*locks, set, cpu, spins)) continue;
                    for (const auto region : set)
                        if (++holders[region] != 1) throw Failure{"two CPUs hold one lock"};
                    for (unsigned i = 0; i < 5; ++i) simulation.point();
                    for (const auto region : set) --holders[region];
                    held.release();
                    ++round;
                    ++taken;
                }
            });
        simulation.scheduler.run();
        REQUIRE(simulation.scheduler.failure() == "");
        REQUIRE(taken == 80);
    }
}
