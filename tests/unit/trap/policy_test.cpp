// Full rings: what each policy does when the reader is slow.
#include "sim/hammer.hpp"
#include "sim/judge.hpp"

#include <catch2/catch.hpp>

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

/// Two CPUs, the smallest area there is, and more records than it holds.
RigOptions crowded(abi::EngineKind engine, const char* policy, std::uint64_t seed) {
    RigOptions options = options_for(engine, 2, seed);
    options.tree.policy = policy;
    options.tree.area_size = 0x3'2000;
    options.conditions.switch_one_in = 20;
    return options;
}

constexpr unsigned rounds = 350; // 4 accesses each, for 1024 slots

std::uint64_t published_and_lost(const Rig& rig, unsigned cpu) {
    std::uint64_t count = 0;
    for (const abi::Record& r : rig.records(cpu))
        count += r.type == abi::RecordType::gap ? r.value : 1;
    return count;
}

} // namespace

TEST_CASE("under `stall` a slow reader loses nothing") {
    const auto engine = GENERATE(values(engines));
    RigOptions options = crowded(engine, "stall", 5);
    options.read_when = [](Rig& rig) { return rig.simulation.scheduler.random().one_in(50); };
    Rig rig(options);
    for (unsigned i = 0; i < 2; ++i) write_hammer(rig.program(i), rounds);
    rig.run();
    CHECK(rig.failure() == "");
    CHECK(compare_with_bus(rig) == "");
    CHECK(rig.ring(0).lost + rig.ring(1).lost == 0);
    CHECK(rig.ring(0).head > rig.ring(0).capacity); // it wrapped
    CHECK(rig.records_of(abi::RecordType::gap).empty());
}

TEST_CASE("under `stall` the guest's interrupts are served while it waits for room") {
    RigOptions options = crowded(abi::EngineKind::shadow, "stall", 6);
    options.conditions.cpus = options.tree.cpus = 1;
    options.tree.area_size = 0x2'1000;
    options.conditions.interrupt_one_in = 50;
    options.conditions.step_limit = 1'500'000; // nobody reads: it waits for ever
    Rig rig(options);
    write_hammer(rig.program(0), rounds);
    rig.run();
    CHECK(rig.failure() == "no end in sight: too many steps");
    CHECK(rig.ring(0).lost == 0);
    CHECK(rig.ring(0).statistics.retries > 100);
    CHECK(rig.reg(0, 11) > 100);
}

TEST_CASE("under `drop` records and gaps add up to what was on the bus, for each CPU") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= seeds(2); ++seed) {
        CAPTURE(seed);
        RigOptions options = crowded(engine, "drop", seed);
        std::uint64_t enough = 100;
        options.read_when = [&enough](const Rig& rig) {
            if (rig.ring(0).lost + rig.ring(1).lost < enough) return false;
            enough += 500;
            return true;
        };
        Rig rig(options);
        for (unsigned i = 0; i < 2; ++i) write_hammer(rig.program(i), 2 * rounds);
        rig.run();
        REQUIRE(rig.failure() == "");
        for (unsigned i = 0; i < 2; ++i) {
            const abi::RingHeader& ring = rig.ring(i);
            std::uint64_t on_bus = 0;
            for (const BusAccess& a : rig.simulation.bus.log()) on_bus += a.cpu == i;
            const std::uint64_t power = i; // the record of CPU 1's start is no access
            REQUIRE(ring.lost > 0);
            std::uint64_t in_gaps = 0;
            for (const abi::Record& r : rig.records(i))
                if (r.type == abi::RecordType::gap) in_gaps += r.value;
            REQUIRE(in_gaps > 0);
            // What was lost last has no gap record yet: the header has it.
            REQUIRE(in_gaps <= ring.lost);
            REQUIRE(published_and_lost(rig, i) + (ring.lost - in_gaps) == on_bus + power);
        }
    }
}

TEST_CASE("under `flight` the newest records are there and equal the end of the bus log") {
    const auto engine = GENERATE(values(engines));
    RigOptions options = crowded(engine, "flight", 4);
    options.conditions.cpus = options.tree.cpus = 1;
    options.tree.area_size = 0x2'1000;
    Rig rig(options);
    write_hammer(rig.program(0), rounds);
    rig.run();
    REQUIRE(rig.failure() == "");
    const auto& records = rig.records(0);
    const auto& log = rig.simulation.bus.log();
    REQUIRE(records.size() == rig.ring(0).capacity);
    for (std::size_t i = 0; i < records.size(); ++i) {
        const BusAccess& access = log[log.size() - records.size() + i];
        REQUIRE(records[i].value == access.value);
        REQUIRE(abi::physical_address(records[i]) == access.address);
    }
    CHECK(rig.ring(0).lost == 0);
}
