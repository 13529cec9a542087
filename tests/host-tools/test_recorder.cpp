// The recorder beside writers that follow the protocol: the stream is complete and in order, at
// whatever moments it reads the rings.
#include "catch_2_or_3.hpp"
#include "fake_area.hpp"
#include "file/trace_reader.hpp"
#include "rings/recorder.hpp"
#include "system/byte_source.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

constexpr unsigned device_count = 3;

/// One CPU as a machine of small steps, so that a test may stop it between any two.
class SteppedCpu {
public:
    SteppedCpu(FakeArea& area, unsigned number, std::uint32_t first)
        : cpu_(area, number), number_(number), first_(first) {}

    /// One step. `clock` is CNTPCT; `locks` are the next numbers of the devices' locks, and
    /// `holder` tells who holds them.
    void step(std::mt19937& random, std::uint64_t clock,
              std::array<std::uint32_t, device_count>& locks,
              std::array<int, device_count>& holder) {
        switch (state_) {
        case 0:
            cpu_.begin();
            device_ = static_cast<unsigned>(random() % device_count);
            ++state_;
            return;
        case 1: // take the lock
            if (holder[device_] < 0) {
                holder[device_] = static_cast<int>(number_);
                record_ = access(number_, first_ + cpu_.next_sequence(), 0);
                record_.device = static_cast<std::uint16_t>(device_);
                record_.lock_sequence = locks[device_]++;
                ++state_;
            }
            return;
        case 2:
            record_.time = clock;
            ++state_;
            return;
        case 3:
            cpu_.begun(record_.time);
            ++state_;
            return;
        case 4: // the access; then the lock is released before or after the record is published
            if (random() % 2 == 0) {
                holder[device_] = -1;
            }
            ++state_;
            return;
        case 5:
            if (!cpu_.has_room()) {
                return;
            }
            cpu_.publish(record_);
            if (holder[device_] == static_cast<int>(number_)) {
                holder[device_] = -1;
            }
            ++state_;
            return;
        default:
            cpu_.done();
            ++published_;
            state_ = 0;
        }
    }

    /// Between accesses: the machine may stop here.
    bool idle() const { return state_ == 0; }
    std::uint32_t published() const { return published_; }

private:
    FakeCpu cpu_;
    unsigned number_;
    std::uint32_t first_; ///< cpu_sequence of its first record
    unsigned state_ = 0;
    unsigned device_ = 0;
    std::uint32_t published_ = 0;
    abi::Record record_{};
};

/// Reads back the recording, whose numbers begin with `first`, and checks it. Returns the number of
/// records.
std::size_t check_recording(int fd, unsigned cpus, std::uint32_t first = 0) {
    const std::vector<std::byte> bytes = contents(fd);
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    std::array<std::uint32_t, device_count> locks;
    locks.fill(first);
    std::vector<std::uint32_t> sequences(cpus, first);
    std::uint64_t time = 0;
    std::size_t count = 0;
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        for (const abi::Record& record : records) {
            REQUIRE(record.time >= time);
            REQUIRE(record.lock_sequence == locks[record.device]++);
            REQUIRE(record.cpu_sequence == sequences[record.cpu]++);
            time = record.time;
            ++count;
        }
    }
    CHECK(reader.sound());
    CHECK(reader.losses().empty());
    return count;
}

} // namespace

TEST_CASE("a randomly interleaved run is recorded in the one right order") {
    const unsigned seed = GENERATE(range(0u, 60u));
    std::mt19937 random(seed);
    const unsigned cpus = 1 + seed % 4;
    FakeArea memory(cpus, seed % 2 == 0 ? 16 : 100);
    // In half of the runs everything that counts modulo 2^32 wraps.
    const std::uint32_t first = seed % 8 < 4 ? 0 : 0xffff'ff00;
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        abi::set_position(memory.ring(cpu), first);
        memory.ring(cpu).readers[abi::host_reader].tail = first;
    }
    const rings::Area area(memory.bytes());
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    rings::Recorder recorder(area, writer);

    std::vector<SteppedCpu> machines;
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        machines.emplace_back(memory, cpu, first);
    }
    std::array<std::uint32_t, device_count> locks;
    locks.fill(first);
    std::array<int, device_count> holder{-1, -1, -1};
    std::uint64_t clock = 100;
    bool stopping = false;
    for (unsigned step = 0;; ++step) {
        clock += random() % 4 == 0 ? 1 : 0; // a slow counter: many ties
        stopping = stopping || step > 6000;
        SteppedCpu& machine = machines[random() % cpus];
        if (!stopping || !machine.idle()) {
            machine.step(random, clock, locks, holder);
        }
        if (random() % 7 == 0) {
            recorder.pass();
        }
        if (random() % 50 == 0) {
            recorder.flush();
        }
        if (stopping && std::all_of(machines.begin(), machines.end(),
                                    [](const SteppedCpu& m) { return m.idle(); })) {
            break;
        }
    }
    recorder.finish(abi::Ending::machine_off);
    std::size_t published = 0;
    for (const SteppedCpu& machine : machines) {
        published += machine.published();
    }
    CHECK(check_recording(file.get(), cpus, first) == published);
    CHECK(recorder.damaged() == 0);
}

TEST_CASE("writers in their own threads are recorded completely and in order") {
    constexpr unsigned cpus = 3;
    constexpr unsigned each = 20'000;
    FakeArea memory(cpus, 1024);
    const rings::Area area(memory.bytes());
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    rings::Recorder recorder(area, writer);

    std::array<std::mutex, device_count> locks;
    std::array<std::uint32_t, device_count> numbers{};
    std::atomic<unsigned> running = cpus;
    std::atomic<std::uint64_t> clock = 1;
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < cpus; ++number) {
        threads.emplace_back([&, number] {
            FakeCpu cpu(memory, number);
            for (unsigned i = 0; i < each; ++i) {
                const unsigned device = (i * 7 + number) % device_count;
                while (!cpu.has_room()) {
                    std::this_thread::yield();
                }
                cpu.begin();
                std::unique_lock lock(locks[device]);
                abi::Record record = access(number, i, clock.fetch_add(i % 2));
                cpu.begun(record.time);
                record.device = static_cast<std::uint16_t>(device);
                record.lock_sequence = numbers[device]++;
                lock.unlock();
                cpu.publish(record);
                cpu.done();
            }
            --running;
        });
    }
    while (running > 0) {
        recorder.pass();
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    recorder.finish(abi::Ending::machine_off);
    CHECK(check_recording(file.get(), cpus) == cpus * each);
}

TEST_CASE("losses are reported exactly and with their place, in the middle and at the end") {
    FakeArea memory(1, 16);
    const rings::Area area(memory.bytes());
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    rings::Recorder recorder(area, writer);
    FakeCpu cpu(memory, 0);
    cpu.publish(access(0, 0, 10));
    abi::Record gap = access(0, 1, 20); // 1, 2 and 3 were lost
    gap.type = abi::RecordType::gap;
    gap.value = 3;
    cpu.publish(gap);
    cpu.publish(access(0, 4, 30));
    cpu.ring().lost = 5; // two more at the very end, without a gap record
    recorder.finish(abi::Ending::machine_off);
    const auto& losses = recorder.losses().losses();
    REQUIRE(losses.size() == 2);
    CHECK((losses[0].first_sequence == 1 && losses[0].count == 3));
    CHECK((losses[1].first_sequence == 5 && losses[1].count == 2));
    CHECK(recorder.losses().lost() == 5);
    CHECK(recorder.summary().events() == 2);
}

TEST_CASE("a recorder tells lost accesses from other lost records") {
    FakeArea memory(1, 16);
    const rings::Area area(memory.bytes());
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    rings::Recorder recorder(area, writer);
    FakeCpu cpu(memory, 0);
    abi::Record mark = access(0, 1, 20);
    mark.type = abi::RecordType::marker;
    cpu.publish(access(0, 0, 10));
    cpu.publish(mark);
    cpu.ring().lost = 5;
    cpu.ring().others = 1 + 2;
    cpu.ring().next_sequence = 7;
    recorder.finish(abi::Ending::machine_off);
    CHECK(text_of(recorder.losses().all_lost()) == "3 lost, 2 other records lost");
}

TEST_CASE("in flight mode, overwritten records are losses, and no torn record is read") {
    FakeArea memory(1, 16, abi::Policy::flight);
    const rings::Area area(memory.bytes());
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    rings::Recorder recorder(area, writer);
    FakeCpu cpu(memory, 0);
    for (std::uint32_t i = 0; i < 40; ++i) {
        cpu.publish(access(0, i, 10 + i));
    }
    recorder.finish(abi::Ending::machine_off);
    CHECK(recorder.summary().events() == 16);
    CHECK(recorder.losses().lost() == 24);
    CHECK(recorder.damaged() == 0);
}

TEST_CASE("a writer that overtakes the reader leaves no torn record, and each loss is counted") {
    constexpr std::uint32_t count = 60'000;
    const std::uint32_t first = GENERATE(0u, 0xffff'c000u);
    FakeArea memory(1, 64, abi::Policy::flight);
    abi::set_position(memory.ring(0), first);
    memory.ring(0).readers[abi::host_reader].tail = first;
    const rings::Area area(memory.bytes());
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    rings::Recorder recorder(area, writer);
    // Each word identifies the record.
    const auto whole = [](std::uint32_t number) {
        abi::Record record = access(0, number, std::uint64_t{1} << 33 | number);
        record.value = std::uint64_t{number} << 32 | number;
        record.pc = record.lr = record.sp = record.va = record.task = ~number;
        return record;
    };
    FakeCpu cpu(memory, 0);
    cpu.publish(whole(first)); // records before the first one seen are not lost
    recorder.pass();
    std::atomic<bool> running = true;
    std::thread cpu_thread([&] {
        for (std::uint32_t i = 1; i < count; ++i) {
            cpu.publish(whole(first + i));
            if (i % 512 == 0) {
                std::this_thread::yield();
            }
        }
        running = false;
    });
    while (running) {
        recorder.pass();
    }
    cpu_thread.join();
    recorder.finish(abi::Ending::machine_off);
    const std::vector<std::byte> bytes = contents(file.get());
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    std::uint64_t seen = 0, missing = 0;
    std::uint32_t next = first;
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        for (const abi::Record& record : records) {
            const abi::Record should = whole(record.cpu_sequence);
            REQUIRE(std::memcmp(&record.type, &should.type,
                                sizeof record - offsetof(abi::Record, type)) == 0);
            REQUIRE(record.commit == abi::commit_word(area.rings()[record.cpu].boot_number,
                                                      record.cpu_sequence)); // position
            REQUIRE(static_cast<std::int32_t>(record.cpu_sequence - next) >= 0);
            missing += record.cpu_sequence - next;
            next = record.cpu_sequence + 1;
            ++seen;
        }
    }
    CHECK(next == first + count);
    CHECK(seen + missing == count);
    CHECK(seen >= 63);
    CHECK(recorder.losses().lost() == missing);
    CHECK(recorder.summary().records() == seen);
    CHECK(recorder.damaged() == 0);
}

namespace {

/// Counts what it sees, and writes a section before each part.
class Counting : public rings::Onlooker {
public:
    void see(std::span<const abi::Record> records, std::span<const trace::Run> runs,
             trace::FileWriter& file) override {
        std::size_t of_runs = 0;
        for (const trace::Run& run : runs) {
            of_runs += run.count;
        }
        CHECK(of_runs == records.size());
        file.text(fmt::format("seen={}\n", seen.size()));
        if (!records.empty()) {
            const trace::Caller caller = 0x1234;
            file.write_callers(records.first(1), std::span(&caller, 1));
            ++callers;
        }
        for (const abi::Record& record : records) {
            seen.push_back(record.cpu_sequence);
        }
        ++calls;
    }
    std::vector<std::uint32_t> seen;
    unsigned calls = 0, callers = 0;
};

} // namespace

TEST_CASE("an onlooker sees each record once, with its section, however many one pass finds") {
    const std::uint32_t count = GENERATE(0u, 1u, 16'383u, 16'384u, 16'385u, 40'000u);
    FakeArea memory(1, 1 << 16);
    const rings::Area area(memory.bytes());
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    Counting onlooker;
    rings::Recorder recorder(area, writer, &onlooker);
    FakeCpu cpu(memory, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
        cpu.publish(access(0, i, 10 + i));
    }
    recorder.pass();
    CHECK(onlooker.calls == std::max(1u, (count + 16'383) / 16'384));
    CHECK(writer.pending().size() == count % 16'384);
    for (std::uint32_t i = count; i < count + 100; ++i) {
        cpu.publish(access(0, i, 10 + i));
        recorder.pass();
    }
    recorder.finish(abi::Ending::machine_off);
    REQUIRE(onlooker.seen.size() == count + 100);
    for (std::uint32_t i = 0; i < count + 100; ++i) {
        REQUIRE(onlooker.seen[i] == i);
    }
    const std::vector<std::byte> bytes = contents(file.get());
    MemorySource source(bytes);
    trace::TraceReader reader(source, [](const std::string& text) { FAIL(text); });
    std::uint32_t next = 0;
    unsigned callers = 0;
    for (auto records = reader.next(); !records.empty(); records = reader.next()) {
        for (const abi::Record& record : records) {
            REQUIRE(record.cpu_sequence == next++);
            callers += reader.caller_of(next) == 0x1234 ? 1 : 0;
        }
    }
    CHECK(next == count + 100);
    CHECK(callers == onlooker.callers);
    CHECK(reader.sound());
}

TEST_CASE("a slot that holds another record is damage, not a record") {
    FakeArea memory(1, 16);
    const rings::Area area(memory.bytes());
    const FileDescriptor file = memory_file("trace", 0);
    trace::WriteProgress progress;
    trace::FileWriter writer(file.get(), progress);
    rings::Recorder recorder(area, writer);
    FakeCpu cpu(memory, 0);
    for (std::uint32_t i = 0; i < 3; ++i) {
        cpu.publish(access(0, i, 10 + i));
    }
    memory.records(0)[1].commit = 77;
    recorder.finish(abi::Ending::machine_off);
    CHECK(recorder.damaged() == 1);
    CHECK(recorder.losses().lost() == 1);
    CHECK(recorder.losses().losses()[0].first_sequence == 1);
}
