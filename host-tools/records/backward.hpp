// Finds what goes back in a trace: it is there twice, or in a wrong order.
#pragma once

#include "records/runs.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace mmioscope::trace {

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

} // namespace mmioscope::trace
