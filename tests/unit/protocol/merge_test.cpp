// The rings' reader in Hyp, on memory that keeps only the order that barriers require.
#include "catch_2_or_3.hpp"
#include "sim/bench.hpp"
#include "sim/simulation.hpp"
#include "stream/ring_merge.hpp"
#include "trace/region_lock.hpp"
#include "trace/ring_writer.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr unsigned writers = 2;
constexpr unsigned reader = writers;
constexpr std::uint64_t area_at = 0x8300'0000;
constexpr std::uint32_t accesses = 30;
constexpr std::uint32_t marks = 400;

/// A record's content follows from its number, so a torn one shows.
std::uint64_t value_of(unsigned cpu, std::uint32_t number) {
    return (std::uint64_t{number} << 32 | number) * 3 + cpu;
}

std::uint8_t byte_of(unsigned cpu, std::uint32_t owner, std::uint32_t at) {
    return static_cast<std::uint8_t>((value_of(cpu, owner) >> at % 8) + at);
}

/// Two CPUs publish, and a third merges their records.
class Merging {
public:
    /// `one_device`: the accesses are made under its lock, with a clock that seldom ticks.
    /// `most_pieces`: what a payload has at most.
    Merging(std::uint64_t seed, abi::Policy policy, bool one_device = false,
            unsigned most_pieces = 0);
    /// `closing`: closes and reopens the merge whenever there is something to take.
    std::string run(bool closing);
    /// Only looks at what the writers are doing; `seen`: how often that was an access.
    std::string run_marks(unsigned& seen);

private:
    void write(unsigned cpu);
    void mark(unsigned cpu);
    void make_access(unsigned cpu, abi::Record& record, std::uint32_t number, Payload payload);
    void look_at_group(const abi::Record& record);
    void read();
    void close_and_read();
    /// Takes everything that can be taken now.
    void take();
    void look_at(const abi::Record& record);
    void look_at_marks();
    /// Everything that a CPU had numbered before the merge was closed is there.
    void look_at_end();

    Simulation simulation_;
    abi::Policy policy_;
    bool one_device_;
    unsigned most_pieces_;
    abi::Record last_{};             ///< taken
    abi::Record last_of_[writers]{}; ///< of each CPU
    Owner device_;
    std::uint32_t last_sequence_{};
    RingWriter writer_[writers];
    RingMerge merge_;
    std::uint64_t last_time_{};
    std::uint32_t next_[writers]{};         ///< cpu_sequence
    std::uint64_t begun_[writers][marks]{}; ///< times
    unsigned marks_{};                      ///< seen
    unsigned writing_{writers};
};

Conditions conditions_of(std::uint64_t seed, bool one_device) {
    constexpr unsigned switches[] = {8, 20, 40};
    constexpr unsigned delays[] = {8, 40, 100};
    Conditions conditions;
    conditions.cpus = writers + 1;
    conditions.seed = seed;
    conditions.switch_one_in = switches[seed % 3];
    conditions.late_one_in = delays[seed / 3 % 3];
    conditions.old_payload = true;
    if (one_device) {
        conditions.switch_one_in *= 10; // so the writers often overtake the reader
        conditions.steps_per_tick = 2000;
    }
    return conditions;
}

Merging::Merging(std::uint64_t seed, abi::Policy policy, bool one_device, unsigned most_pieces)
    : simulation_(conditions_of(seed, one_device)), policy_(policy), one_device_(one_device),
      most_pieces_(most_pieces) {
    auto& area = *reinterpret_cast<abi::AreaHeader*>(simulation_.ram.at({area_at}));
    area.cpu_count = writers;
    area.counter_frequency = 1'000'000; // no wait times out
    area.policy = policy;
    for (unsigned cpu = 0; cpu < writers; ++cpu) {
        area.ring_offset[cpu] = 0x1'0000 * (cpu + 1);
        auto& ring = *reinterpret_cast<abi::RingHeader*>(
            simulation_.ram.at({area_at + area.ring_offset[cpu]}));
        writer_[cpu].start(ring, cpu, (one_device ? 2 : 8) + 2 * most_pieces, policy, false);
    }
    merge_.start(area);
    simulation_.complete_system();
}

void Merging::write(unsigned cpu) {
    std::uint8_t bytes[64 * abi::piece_bytes];
    std::uint32_t pieces = 0;
    for (std::uint32_t number = 0; number < accesses; number += 1 + pieces) {
        pieces = static_cast<std::uint32_t>(simulation_.scheduler.random().below(most_pieces_ + 1));
        const Payload payload{bytes, pieces * abi::piece_bytes - (pieces != 0 ? number % 32 : 0)};
        for (std::uint32_t i = 0; i < payload.size; ++i) bytes[i] = byte_of(cpu, number, i);
        while (!writer_[cpu].has_room(1 + pieces)) simulation_.point();
        abi::Record record{};
        record.type = abi::RecordType::access;
        record.value = value_of(cpu, number);
        record.va = static_cast<std::uint32_t>(record.value);
        record.task = record.va;
        std::uint64_t spins = 0;
        while (one_device_ && !device_.lock.try_acquire(cpu, 2000, spins)) simulation_.point();
        make_access(cpu, record, number, payload);
        if (one_device_) device_.lock.release();
    }
    simulation_.complete_system();
    --writing_;
}

void Merging::make_access(unsigned cpu, abi::Record& record, std::uint32_t number,
                          Payload payload) {
    record.time = writer_[cpu].begin(number, number);
    if (one_device_) record.lock_sequence = device_.next_sequence();
    writer_[cpu].publish(record, payload);
    writer_[cpu].finish();
}

/// Marks accesses that make no records.
void Merging::mark(unsigned cpu) {
    for (std::uint32_t number = 0; number < marks; ++number) {
        begun_[cpu][number] = writer_[cpu].begin(number, number);
        for (auto rest = simulation_.scheduler.random().below(16); rest > 0; --rest)
            simulation_.point();
    }
    simulation_.complete_system();
    --writing_;
}

/// Its pieces have its bytes, and follow it at once.
void Merging::look_at_group(const abi::Record& record) {
    const bool is_piece = record.type == abi::RecordType::payload;
    const abi::Record& before = last_of_[record.cpu];
    if (abi::goes_on(before) && record.cpu_sequence == before.cpu_sequence + 1 &&
        (!abi::follows(record, before) || before.cpu != last_.cpu))
        throw Failure{"merge: a group was split"};
    for (unsigned i = 0; is_piece && i < abi::bytes_in(record); ++i)
        if (abi::bytes_of(record)[i] !=
            byte_of(record.cpu, abi::owner_of(record), abi::piece_index(record) * 32 + i))
            throw Failure{"merge: a payload was taken that was never written"};
    if (policy_ != abi::Policy::flight && abi::goes_on(last_) && !abi::follows(record, last_))
        throw Failure{"merge: a payload was left out"};
    if (policy_ != abi::Policy::flight && is_piece && !abi::goes_on(last_))
        throw Failure{"merge: a payload of no record"};
    last_ = last_of_[record.cpu] = record;
}

void Merging::look_at(const abi::Record& record) {
    if (record.cpu >= writers) throw Failure{"merge: a record of no CPU"};
    look_at_group(record);
    if (record.type == abi::RecordType::payload) {
        next_[record.cpu] = record.cpu_sequence + 1;
        return;
    }
    if (record.value != value_of(record.cpu, record.cpu_sequence) ||
        record.va != static_cast<std::uint32_t>(record.value) || record.task != record.va)
        throw Failure{"merge: a record was taken that was never written"};
    if (policy_ != abi::Policy::flight && record.cpu_sequence != next_[record.cpu])
        throw Failure{"merge: a record was left out, or came twice"};
    if (record.time < last_time_) throw Failure{"merge: a record came behind a later one"};
    if (one_device_ && record.lock_sequence <= last_sequence_)
        throw Failure{"merge: a record came behind one of a later access to its device"};
    last_sequence_ = record.lock_sequence;
    next_[record.cpu] = record.cpu_sequence + 1;
    last_time_ = record.time;
}

/// Its words are of one access.
void Merging::look_at_marks() {
    for (unsigned cpu = 0; cpu < writers; ++cpu) {
        const auto access = merge_.unfinished(cpu);
        if (!access) continue;
        ++marks_;
        const std::uint64_t begun = begun_[cpu][access->pc];
        if (access->pa != access->pc || (begun != 0 && begun != access->time))
            throw Failure{"merge: a mark has words of two accesses"};
    }
}

void Merging::take() {
    abi::Record record;
    while (merge_.next(record)) look_at(record);
    simulation_.point();
}

void Merging::look_at_end() {
    for (unsigned cpu = 0; cpu < writers; ++cpu)
        if (next_[cpu] < merge_.next_sequence(cpu))
            throw Failure{"merge: the end tells of a record that was not there"};
}

void Merging::read() {
    while (writing_ != 0) take();
    take();
}

void Merging::close_and_read() {
    while (writing_ != 0) {
        merge_.close();
        last_time_ = 0; // nothing more is expected
        while (!merge_.empty()) take();
        look_at_end();
        merge_.reopen();
    }
}

std::string Merging::run(bool closing) {
    for (unsigned cpu = 0; cpu < writers; ++cpu)
        simulation_.scheduler.add([this, cpu] { write(cpu); });
    simulation_.scheduler.add([this, closing] { closing ? close_and_read() : read(); });
    simulation_.scheduler.run();
    return simulation_.scheduler.failure();
}

std::string Merging::run_marks(unsigned& seen) {
    for (unsigned cpu = 0; cpu < writers; ++cpu)
        simulation_.scheduler.add([this, cpu] { mark(cpu); });
    simulation_.scheduler.add([this] {
        while (writing_ != 0) look_at_marks();
    });
    simulation_.scheduler.run();
    seen += marks_;
    return simulation_.scheduler.failure();
}

} // namespace

TEST_CASE("a CPU's mark, as the stream's end tells it, has the words of one access", "[protocol]") {
    unsigned seen = 0;
    for (std::uint64_t seed = 1; seed <= seeds(140); ++seed) {
        CAPTURE(seed);
        REQUIRE(Merging(seed, abi::Policy::flight).run_marks(seen) == "");
    }
    CHECK(seen > 1000);
}

TEST_CASE("records that CPUs publish leave their rings whole and in time order", "[protocol]") {
    const auto policy = GENERATE(abi::Policy::stall, abi::Policy::flight);
    for (std::uint64_t seed = 1; seed <= seeds(400); ++seed) {
        CAPTURE(seed);
        REQUIRE(Merging(seed, policy).run(false) == "");
    }
}

TEST_CASE("records of one device at the same time leave in the order of its lock", "[protocol]") {
    const auto policy = GENERATE(abi::Policy::stall, abi::Policy::flight);
    for (std::uint64_t seed = 1; seed <= seeds(400); ++seed) {
        CAPTURE(seed);
        REQUIRE(Merging(seed, policy, true).run(false) == "");
    }
}

TEST_CASE("records that CPUs publish with a payload leave their rings with all of it",
          "[protocol]") {
    const auto policy = GENERATE(abi::Policy::stall, abi::Policy::flight);
    const bool one_device = GENERATE(false, true);
    for (std::uint64_t seed = 1; seed <= seeds(200); ++seed) {
        CAPTURE(seed);
        REQUIRE(Merging(seed, policy, one_device, 1 + seed % 6).run(false) == "");
    }
}

TEST_CASE("a record that comes late does not come between a record and its payload") {
    const auto policy = GENERATE(abi::Policy::stall, abi::Policy::flight);
    Bench bench;
    auto& area = *reinterpret_cast<abi::AreaHeader*>(bench.simulation.ram.at({area_at}));
    area.cpu_count = writers;
    area.counter_frequency = 1; // nobody waits for longer than a tick
    area.policy = policy;
    RingWriter writer[writers];
    for (unsigned cpu = 0; cpu < writers; ++cpu) {
        area.ring_offset[cpu] = 0x1'0000 * (cpu + 1);
        writer[cpu].start(*reinterpret_cast<abi::RingHeader*>(
                              bench.simulation.ram.at({area_at + area.ring_offset[cpu]})),
                          cpu, 16, policy, false);
    }
    RingMerge merge;
    merge.start(area);
    abi::Record late{};
    late.type = abi::RecordType::access;
    late.time = writer[1].begin(0, 0);
    const std::uint8_t bytes[40]{};
    abi::Record owner = late;
    while (owner.time < late.time + 4) owner.time = writer[0].begin(0, 0);
    writer[0].publish(owner, {bytes, sizeof bytes});
    writer[0].finish();
    abi::Record out;
    while (!merge.next(out)) bench.simulation.point();
    REQUIRE(abi::goes_on(out));
    writer[1].publish(late);
    writer[1].finish();
    if (policy == abi::Policy::stall) merge.close(); // looks at all rings again
    for (unsigned index = 0; index < 2; ++index) {
        REQUIRE(merge.next(out));
        CHECK(out.type == abi::RecordType::payload);
        CHECK(abi::piece_index(out) == index);
    }
    REQUIRE(merge.next(out));
    CHECK(out.cpu == 1);
}

TEST_CASE("a closed merge has every record that it counts", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(100); ++seed) {
        CAPTURE(seed);
        REQUIRE(Merging(seed, abi::Policy::stall).run(true) == "");
    }
}
