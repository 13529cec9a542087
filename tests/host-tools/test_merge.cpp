// The merge: nothing leaves too early, and lock numbers decide ties.
#include "catch_2_or_3.hpp"
#include "records.hpp"
#include "rings/merge.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <random>

using namespace mmioscope;
using namespace mmioscope::test;

namespace {

using Records = std::vector<abi::Record>;

abi::Record record(unsigned cpu, std::uint64_t time, std::uint16_t device, std::uint32_t lock) {
    abi::Record made = access(cpu, 0, time);
    made.device = device;
    made.lock_sequence = lock;
    return made;
}

std::vector<std::uint64_t> times(const Records& records) {
    std::vector<std::uint64_t> all;
    for (const abi::Record& one : records) {
        all.push_back(one.time);
    }
    return all;
}

/// The rule in rings/merge.hpp, applied to one record at a time without any state.
class PlainMerge {
public:
    explicit PlainMerge(unsigned cpus) : cpus_(cpus) {}

    void push(unsigned cpu, const Records& records) {
        for (const abi::Record& one : records) {
            cpus_[cpu].waiting.push_back({one, pass_});
            cpus_[cpu].bound = std::max(cpus_[cpu].bound, records.back().time);
        }
    }
    void set_bound(unsigned cpu, std::uint64_t time, bool idle) {
        cpus_[cpu].bound = std::max(cpus_[cpu].bound, time);
        cpus_[cpu].idle = idle;
    }
    void emit(Records& out) {
        for (std::optional<unsigned> cpu = first(); cpu && may_leave(*cpu); cpu = first()) {
            take(*cpu, out);
        }
        ++pass_;
        for (Cpu& cpu : cpus_) {
            cpu.idle = false;
        }
    }
    void flush(Records& out) {
        for (std::optional<unsigned> cpu = first(); cpu; cpu = first()) {
            take(*cpu, out);
        }
    }
    std::size_t waiting() const {
        std::size_t sum = 0;
        for (const Cpu& cpu : cpus_) {
            sum += cpu.waiting.size();
        }
        return sum;
    }

private:
    struct Waiting {
        abi::Record record;
        unsigned pass;
    };
    struct Cpu {
        std::vector<Waiting> waiting;
        std::uint64_t left = 0, bound = 0;
        bool idle = false;
        std::uint64_t time() const { return std::max(waiting.front().record.time, left); }
    };

    bool may_leave(unsigned cpu) const {
        const std::uint64_t time = cpus_[cpu].time();
        for (unsigned other = 0; other < cpus_.size(); ++other) {
            const Cpu& its = cpus_[other];
            const bool tie = time == its.bound && its.idle && cpus_[cpu].waiting[0].pass < pass_;
            if (other != cpu && time >= its.bound && !tie) {
                return false;
            }
        }
        return true;
    }
    bool locked_out(unsigned cpu, std::uint64_t time) const {
        const abi::Record& first = cpus_[cpu].waiting.front().record;
        for (unsigned other = 0; other < cpus_.size(); ++other) {
            for (const Waiting& its : cpus_[other].waiting) {
                if (other == cpu || its.record.time > time) {
                    break;
                }
                if (its.record.device == first.device && first.device != abi::no_device &&
                    static_cast<std::int32_t>(its.record.lock_sequence - first.lock_sequence) < 0) {
                    return true;
                }
            }
        }
        return false;
    }
    std::optional<unsigned> first() const {
        std::optional<unsigned> first;
        for (unsigned cpu = 0; cpu < cpus_.size(); ++cpu) {
            if (!cpus_[cpu].waiting.empty() &&
                (!first || cpus_[cpu].time() < cpus_[*first].time())) {
                first = cpu;
            }
        }
        for (unsigned cpu = 0; first && cpu < cpus_.size(); ++cpu) {
            const std::uint64_t time = cpus_[*first].time();
            if (!cpus_[cpu].waiting.empty() && cpus_[cpu].time() == time &&
                !locked_out(cpu, time)) {
                return cpu;
            }
        }
        return first;
    }
    void take(unsigned cpu, Records& out) {
        cpus_[cpu].left = cpus_[cpu].time();
        out.push_back(cpus_[cpu].waiting.front().record);
        cpus_[cpu].waiting.erase(cpus_[cpu].waiting.begin());
    }

    std::vector<Cpu> cpus_;
    unsigned pass_ = 0;
};

std::uint32_t below(std::mt19937& random, std::uint32_t limit) {
    return static_cast<std::uint32_t>(random() % limit);
}

/// Records of one CPU, with times that equal others', go back or leap, and wrapping `locks`. Half
/// of the time they are in order among themselves, but perhaps not with earlier ones.
Records some(std::mt19937& random, unsigned cpu, std::uint64_t& time,
             std::array<std::uint32_t, 3>& locks, std::uint32_t& sequence) {
    Records records(below(random, 4) == 0 ? below(random, 200) : below(random, 4));
    const bool in_order = below(random, 2) == 0;
    const std::uint32_t back = below(random, 4) == 0 ? below(random, 60) : 0;
    for (abi::Record& one : records) {
        time += below(random, 8) == 0 ? below(random, 50) : below(random, 2);
        const auto device = static_cast<std::uint16_t>(below(random, 4));
        const std::uint32_t its = !in_order && below(random, 16) == 0 ? below(random, 20) : 0;
        one = record(cpu, time - back - its, device < 3 ? device : abi::no_device,
                     device < 3 ? locks[device]++ : 7);
        one.cpu_sequence = sequence++;
    }
    return records;
}

} // namespace

TEST_CASE("records leave in the order and in the pass that a simple implementation gives") {
    for (unsigned seed = 0; seed < 150; ++seed) {
        std::mt19937 random(seed);
        const unsigned cpus = 1 + seed % 4;
        rings::Merge merge(cpus);
        PlainMerge plain(cpus);
        std::array<std::uint32_t, 3> locks{0xffff'fff0, 0, 0x7fff'fff0};
        std::vector<std::uint32_t> sequences(cpus);
        std::vector<std::uint64_t> clocks(cpus, 1000);
        Records out, expected;
        const auto same = [&] {
            REQUIRE(out.size() == expected.size());
            const auto equal = [](const abi::Record& a, const abi::Record& b) {
                return a.cpu == b.cpu && a.cpu_sequence == b.cpu_sequence;
            };
            REQUIRE(std::equal(out.begin(), out.end(), expected.begin(), equal));
            REQUIRE(merge.empty() == (plain.waiting() == 0));
        };
        for (unsigned pass = 0; pass < 30; ++pass) {
            for (unsigned cpu = 0; cpu < cpus; ++cpu) {
                for (unsigned part = below(random, 3); part > 0; --part) {
                    Records records = some(random, cpu, clocks[cpu], locks, sequences[cpu]);
                    plain.push(cpu, records);
                    merge.push(cpu, std::move(records));
                    REQUIRE(records.empty());
                }
                if (below(random, 4) > 0) {
                    const std::uint64_t bound = clocks[below(random, cpus)] - below(random, 3);
                    const bool idle = below(random, 2) == 0;
                    merge.set_bound(cpu, bound, idle);
                    plain.set_bound(cpu, bound, idle);
                }
            }
            merge.emit(out);
            plain.emit(expected);
            same();
        }
        merge.flush(out);
        plain.flush(expected);
        same();
    }
}

TEST_CASE("a record waits until no other CPU can publish an earlier one") {
    rings::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 10, 0, 0), record(0, 20, 0, 1)});
    merge.emit(out);
    CHECK(out.empty()); // nothing is known about CPU 1
    merge.set_bound(1, 15, false);
    merge.emit(out);
    CHECK(times(out) == std::vector<std::uint64_t>{10});
    merge.push(1, Records{record(1, 17, 0, 2)});
    merge.set_bound(1, 30, false);
    merge.emit(out);
    CHECK(times(out) == std::vector<std::uint64_t>{10, 17, 20});
}

TEST_CASE("a record at the bound leaves only if the other CPU is idle, and one pass later") {
    rings::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 10, 0, 1)});
    merge.set_bound(1, 10, true);
    merge.emit(out);
    CHECK(out.empty()); // CPU 1 may have begun between the looks at it and at CPU 0
    merge.set_bound(1, 10, false);
    merge.emit(out);
    CHECK(out.empty()); // CPU 1 has begun one at 10, which may come first
    merge.set_bound(1, 10, true);
    merge.emit(out);
    CHECK(out.size() == 1);
}

TEST_CASE("bounds never fall") {
    rings::Merge merge(2);
    Records out;
    merge.set_bound(1, 50, false);
    merge.set_bound(1, 5, false);
    merge.push(0, Records{record(0, 40, 0, 0), record(0, 60, 0, 1)});
    merge.emit(out);
    CHECK(times(out) == std::vector<std::uint64_t>{40});
}

TEST_CASE("records of one device with equal times leave in lock order") {
    rings::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 7, 3, 12)});
    merge.push(1, Records{record(1, 7, 4, 0), record(1, 7, 3, 11)});
    merge.flush(out);
    REQUIRE(out.size() == 3);
    CHECK(out[0].device == 4);
    CHECK(out[1].lock_sequence == 11);
    CHECK(out[2].lock_sequence == 12);
}

TEST_CASE("lock numbers may wrap") {
    rings::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 7, 3, 0)});
    merge.push(1, Records{record(1, 7, 3, 0xffff'ffff)});
    merge.flush(out);
    CHECK(out[0].lock_sequence == 0xffff'ffff);
}

TEST_CASE("records of one CPU keep their order whatever their times") {
    rings::Merge merge(1);
    Records out;
    merge.push(0, Records{record(0, 9, 0, 0), record(0, 5, 0, 1), record(0, 8, 0, 2)});
    merge.flush(out);
    CHECK(times(out) == std::vector<std::uint64_t>{9, 5, 8});
}

TEST_CASE("records that are in order, but after a later one, leave one by one") {
    rings::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 50, 0, 0)});
    merge.push(1, Records{record(1, 50, 3, 11), record(1, 60, 0, 1)});
    merge.emit(out);
    merge.push(0, Records{record(0, 10, 4, 0), record(0, 20, 3, 12), record(0, 30, 4, 1)});
    merge.flush(out);
    CHECK(times(out) == std::vector<std::uint64_t>{50, 10, 50, 20, 30, 60});
}

TEST_CASE("records without a device may have equal times") {
    rings::Merge merge(2);
    Records out;
    merge.push(0, Records{record(0, 7, abi::no_device, 5)});
    merge.push(1, Records{record(1, 7, abi::no_device, 4)});
    merge.flush(out);
    CHECK(out.size() == 2);
    CHECK(out[0].cpu == 0);
}
