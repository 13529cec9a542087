// Counts the records missing in a stream.
#pragma once

#include "abi/container.hpp"
#include "records/runs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mmioscope::trace {

// Finds what goes back in a trace: it is there twice, or in a wrong order.

/// Whether a record with this number is behind one of the same CPU that `next` should have
/// followed.
constexpr bool goes_back(std::uint32_t sequence, std::uint32_t next) {
    return static_cast<std::int32_t>(sequence - next) < 0;
}

/// Whether the time of `record` is that of an access, so that no later access of its CPU has an
/// earlier one.
constexpr bool keeps_time(const abi::Record& record) {
    return record.type == abi::RecordType::access &&
           (record.flags & (abi::flag_early | abi::flag_boot | abi::flag_estimated)) == 0;
}

/// How often something goes back, and where first.
struct StepsBack {
    std::uint64_t count = 0;
    unsigned cpu = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;

    void add(unsigned of_cpu, std::uint64_t before, std::uint64_t now, std::uint64_t times = 1);
};

/// What is wrong with the times of accesses, as part of a sentence; empty: nothing. A counter that
/// jumps may explain it.
std::string times_back(const StepsBack& steps);

class Backward {
public:
    /// Adds the records of a trace, or some of them, in its order. RunsOf::time.
    void add(const Run& run) {
        const abi::Record& first = *run.first;
        Cpu& cpu = cpus_[first.cpu];
        if (first.cpu_sequence != cpu.next || first.time < cpu.time ||
            first.type != abi::RecordType::access) [[unlikely]] {
            look(run, cpu);
        } else {
            cpu.next = run.last->cpu_sequence + 1;
            cpu.time = run.last->time;
        }
    }

    /// What is wrong with the records' numbers, as part of a sentence; empty: nothing.
    std::string numbers_back() const;
    /// The same of the accesses' times.
    std::string times_back() const { return trace::times_back(times_); }

private:
    struct Cpu {
        std::uint32_t next = 0;       ///< cpu_sequence expected of the next record
        bool known = false;           ///< has had a record that did not follow
        std::uint64_t time = 0;       ///< of its last record
        std::uint64_t other_time = 0; ///< of its last record whose time says nothing of accesses
    };

    void look(const Run& run, Cpu& cpu);

    std::array<Cpu, 256> cpus_{}; ///< by Record::cpu
    StepsBack numbers_;
    StepsBack times_;
};

/// The sum; UINT64_MAX means that many or more.
constexpr std::uint64_t add_lost(std::uint64_t sum, std::uint64_t count) {
    return count > UINT64_MAX - sum ? UINT64_MAX : sum + count;
}

/// 0 only if no loss has a count.
constexpr std::uint64_t sum_of(std::span<const abi::Loss> losses) {
    std::uint64_t sum = 0;
    for (const abi::Loss& loss : losses) {
        sum = add_lost(sum, loss.count);
    }
    return sum;
}

/// What is missing in a trace.
struct Lost {
    std::uint64_t records = 0;
    std::optional<std::uint64_t> others = 0; ///< those that were no accesses; nothing: not known

    std::uint64_t events() const { return records - others.value_or(0); } ///< the most, if unknown
};

/// "3 lost", which are events; "3 lost, 2 other records lost"; or "5 records lost" of unknown
/// kinds.
std::string text_of(const Lost& lost);

/// Missing records of one CPU.
struct Hole {
    std::uint32_t first;     ///< cpu_sequence of the first one
    std::uint32_t in_front;  ///< missing before the record; `announced` more if it is a gap
    std::uint64_t announced; ///< 0 if it is not a gap record
};

/// What `record` shows to be missing. `next` is the cpu_sequence expected of its CPU's next record,
/// and is updated.
inline Hole hole_at(std::uint32_t& next, const abi::Record& record) {
    const std::uint32_t missing = record.cpu_sequence - next;
    const bool is_gap = record.type == abi::RecordType::gap;
    const Hole hole{next, static_cast<std::int32_t>(missing) > 0 ? missing : 0,
                    is_gap ? record.value : 0};
    next = record.cpu_sequence + (is_gap ? static_cast<std::uint32_t>(record.value) : 1);
    return hole;
}

class LossCounter {
public:
    explicit LossCounter(unsigned cpus) : cpus_(cpus) {}

    /// Adds each record of the stream; each CPU's in the order in which it published them.
    void add(const abi::Record& record) {
        const bool follows = record.cpu < cpus_.size() &&
                             record.cpu_sequence == cpus_[record.cpu].next &&
                             record.type == abi::RecordType::access;
        if (follows) {
            cpus_[record.cpu].next = record.cpu_sequence + 1;
            cpus_[record.cpu].last_time = record.time;
        } else {
            add_behind(record);
        }
    }
    /// Adds several at once, which is faster.
    void add(const Run& run) {
        add(*run.first);
        if (run.count > 1 && !goes_back(run.last->cpu_sequence, cpus_[run.last->cpu].next)) {
            cpus_[run.last->cpu].next = run.last->cpu_sequence + 1;
            cpus_[run.last->cpu].last_time = run.last->time;
        }
    }

    /// The writer of `cpu` has lost `lost` records in total. Those that no gap record reported were
    /// lost after the last record.
    void finish(unsigned cpu, std::uint64_t lost);

    /// The next record of `cpu` would have had this cpu_sequence: those missing before it were lost
    /// after the last record.
    void finish_at(unsigned cpu, std::uint32_t sequence);

    /// Of the records of `cpu` up to this cpu_sequence, lost ones too, so many were no accesses,
    /// modulo 2^32. Call it last: it is ignored if not just these records were added or lost.
    void set_others(unsigned cpu, std::uint32_t sequence, std::uint32_t others);
    /// Only events are lost, such as those that a log counts.
    void set_only_events() { only_events_ = true; }

    /// Runs of missing records. After most_losses of them, further losses are added to the last one
    /// of the CPU.
    const std::vector<abi::Loss>& losses() const { return losses_; }
    /// The losses added since they were `before`.
    std::vector<abi::Loss> losses_since(std::span<const abi::Loss> before) const;
    std::uint64_t lost() const { return lost_; }
    /// Likewise, and how many of them were no accesses.
    Lost all_lost() const;

private:
    static constexpr std::size_t most_losses = 1u << 16;

    struct Cpu {
        bool known = false;          ///< has had a record that did not follow
        std::uint32_t next = 0;      ///< expected cpu_sequence of the next record
        std::uint64_t announced = 0; ///< lost according to gap records
        std::uint64_t last_time = 0;
        std::uint64_t lost = 0;
        std::uint32_t at_end = 0; ///< those after the last record, if their number is all
        std::uint32_t others = 0; ///< records added that are no accesses
        std::optional<std::pair<std::uint32_t, std::uint32_t>> stated; ///< by set_others()
        std::optional<std::size_t> last_loss;                          ///< index in losses_
    };

    void add_behind(const abi::Record& record);
    void join(unsigned cpu, std::uint32_t first, std::uint64_t count, std::uint64_t time);
    void note(unsigned cpu, std::uint32_t first, std::uint64_t count, std::uint64_t time);
    void add_to(abi::Loss& loss, std::uint64_t count);

    std::vector<Cpu> cpus_;
    std::vector<abi::Loss> losses_;
    std::uint64_t lost_ = 0;
    bool only_events_ = false;
};

} // namespace mmioscope::trace
