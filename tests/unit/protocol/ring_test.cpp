// Rings are read while they grow, from memory that keeps only the order that barriers require. The
// reader relies only on what abi/ring.hpp promises.
#include "catch_2_or_3.hpp"
#include "sim/simulation.hpp"
#include "trace/ring_writer.hpp"

using namespace mmioscope;
using namespace mmioscope::sim;

namespace {

constexpr unsigned writers = 3;
constexpr unsigned accesses = 30;

struct Snapshot {
    unsigned cpu;
    std::uint64_t position;
    abi::Record record;
};

/// Writers on separate CPUs, a reader, and somebody who inspects slots as after a crash.
class Rings {
public:
    Rings(const Conditions& conditions, std::uint64_t ring)
        : simulation(conditions), capacity(ring) {
        for (unsigned cpu = 0; cpu < writers; ++cpu) {
            writer_[cpu].start(header(cpu), cpu, capacity, abi::Policy::stall, true);
            simulation.scheduler.add([this, cpu] { write(cpu); });
        }
        simulation.scheduler.add([this] { read(); });
        simulation.scheduler.add([this] { look_at_slots(); });
    }

    /// What violated a promise; empty if nothing.
    std::string run() {
        simulation.scheduler.run();
        if (!simulation.scheduler.failure().empty()) return simulation.scheduler.failure();
        for (const Snapshot& s : seen_)
            if (std::memcmp(&s.record, &written_[s.cpu].at(s.position), sizeof s.record) != 0)
                return "ring: a record was read that was never written";
        return seen_.size() < writers * accesses ? "ring: the reader did not get everything" : "";
    }

    Simulation simulation;
    const std::uint64_t capacity;

private:
    abi::RingHeader& header(unsigned cpu) {
        return *reinterpret_cast<abi::RingHeader*>(
            simulation.ram.at({0x8300'0000 + cpu * std::uint64_t{0x1'0000}}));
    }
    const abi::Record& slot(unsigned cpu, std::uint64_t position) {
        return reinterpret_cast<abi::Record*>(&header(cpu) + 1)[position % capacity];
    }

    void write(unsigned cpu);
    void publish(unsigned cpu, std::uint64_t time, std::uint32_t size);
    void publish_next(unsigned cpu);
    void read();
    void read_ring(unsigned cpu);
    void look_at_slots();

    RingWriter writer_[writers];
    std::vector<abi::Record> written_[writers];
    std::vector<Snapshot> seen_;
    unsigned writing_{writers};

    std::uint64_t tail_[writers]{};
    std::uint64_t promised_[writers]{}; ///< no later record is older
    std::uint64_t finished_[writers]{}; ///< time of the last access known to be over
    std::uint64_t last_[writers]{};     ///< time of the last record read
    std::uint64_t latest_{};            ///< of all records, up to the last pass
};

void Rings::publish(unsigned cpu, std::uint64_t time, std::uint32_t size) {
    abi::Record record{};
    record.type = abi::RecordType::access;
    record.cpu = static_cast<std::uint8_t>(cpu);
    record.time = time;
    record.value = simulation.scheduler.random().next();
    record.va = static_cast<std::uint32_t>(record.value);
    record.task = record.va;
    std::uint8_t bytes[3 * abi::piece_bytes];
    for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(simulation.scheduler.random().next());
    writer_[cpu].publish(record, {bytes, size});
    if (size != 0) record.flags = abi::flag_payload;
    record.commit = static_cast<std::uint32_t>(written_[cpu].size() + 1);
    written_[cpu].push_back(record);
    for (std::uint32_t done = 0; done < size; done += abi::piece_bytes) {
        record = abi::next_piece(record);
        const std::uint32_t here = std::min(size - done, abi::piece_bytes);
        abi::set_bytes(record, bytes + done, here, done + here < size);
        record.commit = static_cast<std::uint32_t>(written_[cpu].size() + 1);
        written_[cpu].push_back(record);
    }
}

/// As beside an open fast path, if the ring is as long as its batch of slots.
void Rings::publish_next(unsigned cpu) {
    std::uint32_t header = 0, slot, sequence, commit, head;
    if (!writer_[cpu].reserve(header, slot, sequence, commit, head)) return;
    const auto events = static_cast<unsigned>(1 + simulation.scheduler.random().below(3));
    for (unsigned n = 0; n < events && !writer_[cpu].spent(sequence); ++n) {
        abi::Record record{};
        record.type = abi::RecordType::move;
        record.value = simulation.scheduler.random().next();
        writer_[cpu].publish_next(record, slot, sequence);
        record.commit = static_cast<std::uint32_t>(written_[cpu].size() + 1);
        written_[cpu].push_back(record);
    }
    CHECK(writer_[cpu].release(sequence) == 0);
}

void Rings::write(unsigned cpu) {
    for (unsigned i = 0; i < accesses; ++i) {
        if (simulation.scheduler.random().below(2) == 0) publish_next(cpu);
        const std::uint64_t beats = 1 + simulation.scheduler.random().below(3);
        const auto size = static_cast<std::uint32_t>(simulation.scheduler.random().below(2) *
                                                     simulation.scheduler.random().below(97));
        while (!writer_[cpu].has_room(beats + abi::pieces_of(size))) simulation.point();
        const std::uint64_t time = writer_[cpu].begin(i, i);
        for (std::uint64_t n = simulation.scheduler.random().below(20); n > 0; --n)
            simulation.point(); // the access takes time
        for (std::uint64_t n = 0; n < beats; ++n) publish(cpu, time, n == 0 ? size : 0);
        writer_[cpu].finish();
    }
    simulation.complete_system();
    --writing_;
}

/// Like host-tools/rings/recorder.cpp: the mark, its time, then the head.
void Rings::read_ring(unsigned cpu) {
    const abi::RingHeader& ring = header(cpu);
    const bool all_read = ring.head == tail_[cpu];
    simulation.point();
    const abi::InFlight state = ring.in_flight;
    simulation.point();
    const std::uint64_t time = ring.in_flight_time;
    simulation.point();
    if (state == abi::InFlight::none && all_read) finished_[cpu] = last_[cpu];
    if (state == abi::InFlight::in_header && time <= finished_[cpu])
        throw Failure{"ring: an access in flight has the time of one before it"};
    for (std::uint64_t n = simulation.scheduler.random().below(100); n > 0; --n)
        simulation.memory.drain_one(cpu); // else a DSB makes a whole group visible at once
    const std::uint64_t head = ring.head;
    const abi::Record before = head == 0 ? abi::Record{} : slot(cpu, head - 1);
    if (before.commit == static_cast<std::uint32_t>(head) && abi::goes_on(before))
        throw Failure{"ring: a group is below the head only in part"};
    for (; tail_[cpu] != head; ++tail_[cpu]) {
        simulation.point();
        const abi::Record record = slot(cpu, tail_[cpu]);
        if (record.commit != static_cast<std::uint32_t>(tail_[cpu] + 1))
            throw Failure{"ring: a record below the head is not there"};
        if (record.time < promised_[cpu])
            throw Failure{"ring: a record is older than its CPU had promised"};
        seen_.push_back({cpu, tail_[cpu], record});
        last_[cpu] = record.time;
    }
    if (state == abi::InFlight::none) promised_[cpu] = std::max(promised_[cpu], latest_);
    if (state == abi::InFlight::in_header) promised_[cpu] = std::max(promised_[cpu], time);
    header(cpu).readers[abi::host_reader].tail = head;
}

void Rings::read() {
    for (bool last = false; !last;) {
        last = writing_ == 0;
        for (unsigned cpu = 0; cpu < writers; ++cpu) read_ring(cpu);
        for (const std::uint64_t time : last_) latest_ = std::max(latest_, time);
        simulation.point();
    }
}

/// At any moment, as if everything stopped there: a slot with a commit word contains that record.
void Rings::look_at_slots() {
    for (; writing_ != 0; simulation.point()) {
        const auto cpu = static_cast<unsigned>(simulation.scheduler.random().below(writers));
        const std::uint64_t ahead = simulation.scheduler.random().below(6); // being written
        const abi::Record& record = slot(cpu, header(cpu).head + ahead);
        if (record.commit != 0) seen_.push_back({cpu, record.commit - std::uint64_t{1}, record});
    }
}

} // namespace

TEST_CASE("a ring's reader may rely on head, commit word and in-flight mark", "[protocol]") {
    for (std::uint64_t seed = 1; seed <= seeds(40); ++seed) {
        CAPTURE(seed);
        constexpr unsigned switches[] = {1, 2, 4};
        constexpr unsigned delays[] = {2, 8, 40};
        Conditions conditions;
        conditions.cpus = writers;
        conditions.seed = seed;
        conditions.switch_one_in = switches[seed % 3];
        conditions.late_one_in = delays[seed / 3 % 3];
        REQUIRE(Rings(conditions, 16).run() == "");
        REQUIRE(Rings(conditions, 2 * abi::reserve_batch).run() == "");
    }
}
