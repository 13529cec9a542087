// Full rings: the effect of each policy when the reader is slow.
#include "catch_2_or_3.hpp"
#include "sim/hammer.hpp"
#include "sim/judge.hpp"
#include "unit/control/asking.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr auto engines = {abi::EngineKind::shadow, abi::EngineKind::emulation};

/// Two CPUs, the smallest possible area, and more records than it holds.
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

TEST_CASE("under `drop`, records and gaps add up to the accesses on the bus, for each CPU") {
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
            const std::uint64_t power = i; // the record of CPU 1's start is not an access
            REQUIRE(ring.lost > 0);
            std::uint64_t in_gaps = 0;
            for (const abi::Record& r : rig.records(i))
                if (r.type == abi::RecordType::gap) in_gaps += r.value;
            REQUIRE(in_gaps > 0);
            // The latest losses have no gap record yet: the header counts them.
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

namespace {

/// CPU 0 sends requests, while CPU 1 makes more records than its ring holds.
class Steered {
public:
    Steered(Rig& rig, mmioscope::Cpu& cpu) : rig_(rig), cpu_(cpu) {}

    Status set(abi::Policy policy) {
        const Request request =
            abi::control::make_request(Command::policy, 1, static_cast<std::uint32_t>(policy));
        for (;;)
            if (const auto reply = execute(cpu_, request)) return reply->status;
    }
    std::uint64_t lost() const { return rig_.ring(1).lost; }
    std::uint64_t head() const { return rig_.ring(1).head; }
    std::uint64_t retries() const { return rig_.ring(1).statistics.retries; }

    /// Waits until `count` has grown by `more`.
    void wait_for(std::uint64_t (Steered::*count)() const, std::uint64_t more) {
        const std::uint64_t before = (this->*count)();
        while ((this->*count)() < before + more) rig_.simulation.point();
    }

private:
    Rig& rig_;
    mmioscope::Cpu& cpu_;
};

/// The times of policy changes, in order.
std::vector<std::uint64_t> changes(const Rig& rig) {
    std::vector<std::uint64_t> times;
    for (const abi::Record& r : rig.records(0))
        if (r.type == abi::RecordType::configuration) times.push_back(r.time);
    return times;
}

} // namespace

TEST_CASE("the policy that a request sets is what full rings follow from then on") {
    const auto engine = GENERATE(values(engines));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(seed);
        RigOptions options = crowded(engine, "drop", seed);
        options.conditions.step_limit = 3'000'000;
        bool reads = false;
        options.read_when = [&reads](const Rig&) { return reads; };
        Rig rig(options);
        write_hammer(rig.program(1), 100'000'000);
        bool refused = false;
        rig.on_end(0, [&](Core&, mmioscope::Cpu& cpu) {
            Steered steered(rig, cpu);
            steered.wait_for(&Steered::lost, 20);
            CHECK(steered.set(abi::Policy::stall) == Status::done);
            steered.wait_for(&Steered::retries, 100); // full, and nobody reads
            reads = true;
            steered.wait_for(&Steered::head, 2 * rig.ring(1).capacity);
            reads = false;
            steered.wait_for(&Steered::retries, 100);
            CHECK(steered.set(abi::Policy::drop) == Status::done);
            steered.wait_for(&Steered::lost, 20);
            refused = steered.set(abi::Policy::flight) == Status::fixed;
            steered.wait_for(&Steered::lost, 20); // the oldest records stay
            reads = true;
            steered.wait_for(&Steered::head, 20);
            rig.simulation.scheduler.stop();
        });
        rig.run();
        REQUIRE(rig.failure() == "");
        REQUIRE(refused);
        const auto times = changes(rig);
        REQUIRE(times.size() == 2);
        std::size_t on_bus = 0, records = 0, gaps_before = 0, gaps_behind = 0;
        for (const BusAccess& a : rig.simulation.bus.log())
            on_bus += a.cpu == 1 && a.time > times[0] && a.time < times[1];
        for (const abi::Record& r : rig.records(1)) {
            const bool stalling = r.time > times[0] && r.time < times[1];
            records += r.type == abi::RecordType::access && stalling;
            if (r.type == abi::RecordType::gap) ++(r.time < times[1] ? gaps_before : gaps_behind);
        }
        REQUIRE(records > 2 * rig.ring(1).capacity);
        REQUIRE(records == on_bus);
        REQUIRE(gaps_before == 1); // losses up to the first change, reported after it
        REQUIRE(gaps_behind == 1);
    }
}
