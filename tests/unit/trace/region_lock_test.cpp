#include "trace/region_lock.hpp"

#include "catch_2_or_3.hpp"
#include "engine/engine.hpp"
#include "sim/bench.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {
OwnerSet set_of(RegionLocks& locks, std::initializer_list<std::uint16_t> regions) {
    OwnerSet set;
    for (const std::uint16_t region : regions) set.add(locks.of(region));
    return set;
}
} // namespace

TEST_CASE("a set of owners holds each once, in the lock order") {
    auto locks = std::make_unique<RegionLocks>();
    Owner& page = *locks->take_page_owner({}, nobody);
    OwnerSet set = set_of(*locks, {7, choice_lock, 3, 7, 3, 0});
    for (unsigned n = 0; n < 2; ++n) set.add(page);
    const std::vector<Owner*> found(set.begin(), set.end());
    CHECK(found == std::vector<Owner*>{&page, &locks->of(0), &locks->of(3), &locks->of(7),
                                       &locks->of(choice_lock)});
}

TEST_CASE("locks know their owner, and are free after release") {
    Bench bench;
    auto locks = std::make_unique<RegionLocks>();
    HeldLocks held;
    std::uint64_t spins = 0;
    REQUIRE(held.acquire(set_of(*locks, {5, 2}), 3, spins));
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
    REQUIRE(other.acquire(set_of(*locks, {5}), 1, spins));
    CHECK(!held.acquire(set_of(*locks, {2, 5, 9}), 3, spins));
    CHECK(spins >= 1000);
    CHECK(!held.held());
    CHECK(locks->of(2).lock.owner() == Lock::no_owner);
    CHECK(locks->of(9).lock.owner() == Lock::no_owner);
    CHECK(locks->of(5).lock.owner() == 1);
    other.release();
    CHECK(held.acquire(set_of(*locks, {2, 5, 9}), 3, spins));
}

TEST_CASE("each region counts its own accesses") {
    Bench bench;
    auto locks = std::make_unique<RegionLocks>();
    HeldLocks held;
    std::uint64_t spins = 0;
    REQUIRE(held.acquire(set_of(*locks, {1, 2}), 0, spins));
    CHECK(held.next_sequence(locks->of(1)) == 1);
    CHECK(held.next_sequence(locks->of(1)) == 2);
    CHECK(held.next_sequence(locks->of(2)) == 1);
    held.release();
    REQUIRE(held.acquire(set_of(*locks, {2}), 1, spins));
    CHECK(held.next_sequence(locks->of(2)) == 2);
}

TEST_CASE("a sequence number without its lock, and a second release, stop the machine") {
    Bench bench;
    auto locks = std::make_unique<RegionLocks>();
    HeldLocks held;
    std::uint64_t spins = 0;
    CHECK_THROWS_AS(held.release(), Halted);
    REQUIRE(held.acquire(set_of(*locks, {1}), 0, spins));
    CHECK_THROWS_AS(held.next_sequence(locks->of(2)), Halted);
}

TEST_CASE("all locks, or all others than those held, are those of pages and of regions") {
    Bench bench;
    auto locks = std::make_unique<RegionLocks>();
    Owner& page = *locks->take_page_owner({}, nobody);
    HeldLocks held;
    std::uint64_t spins = 0;
    REQUIRE(held.acquire(page, 1, spins));
    HeldLocks other;
    CHECK(!other.acquire_others(*locks, 2, 0, spins));
    other.release_others();
    CHECK(held.acquire_others(*locks, 2, 1, spins));
    for (const std::uint16_t region : {0, 1}) CHECK(locks->of(region).lock.owner() == 1);
    CHECK(locks->of(2).lock.owner() == Lock::no_owner);
    held.release_others();
    CHECK(page.lock.owner() == 1);
    CHECK(locks->of(1).lock.owner() == Lock::no_owner);
    held.release();
    CHECK(other.acquire_others(*locks, 2, 0, spins));
    CHECK(page.lock.owner() == 0);
    other.release_others();
    CHECK(page.lock.owner() == Lock::no_owner);
    while (locks->take_page_owner({}, nobody) != nullptr) CHECK(&page != &locks->of(0));
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
                    OwnerSet set;
                    for (unsigned i = 0; i < 2; ++i)
                        set.add(locks->of(static_cast<std::uint16_t>(random.below(4))));
                    std::uint64_t spins = 0;
                    if (!held.acquire(set, cpu, spins)) continue;
                    for (Owner* const owner : set)
                        if (++holders[owner - &locks->of(0)] != 1)
                            throw Failure{"two CPUs hold one lock"};
                    for (unsigned i = 0; i < 5; ++i) simulation.point();
                    for (Owner* const owner : set) --holders[owner - &locks->of(0)];
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
