#include "file/record_check.hpp"

#include "records/losses.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::trace {

// Decides the usual case in a few instructions: a plain access is of no group, and not estimated.
void RecordCheck::add(std::span<const abi::Record> records) {
    const auto is_plain = [](const abi::Record& record) {
        constexpr std::uint8_t special = abi::flag_estimated | abi::flag_payload;
        return record.type == abi::RecordType::access && (record.flags & special) == 0;
    };
    auto at = records.begin();
    while (at != records.end()) {
        if (!groups_.open()) {
            for (; at != records.end() && is_plain(*at); ++at) {
                check<true>(*at, cpus_[at->cpu]);
            }
        }
        if (at != records.end()) {
            Cpu& cpu = cpus_[at->cpu];
            if (groups_.minds(*at)) {
                check_group(*at, cpu);
            }
            check<false>(*at++, cpu);
        }
    }
}

template <bool plain>
inline void RecordCheck::check(const abi::Record& record, Cpu& cpu) {
    if (cpu.next == record.cpu_sequence && (plain || record.type != abi::RecordType::gap))
        [[likely]] {
        ++*cpu.next;
    } else {
        out_of_turn(record, cpu);
    }
    if (plain || (record.flags & abi::flag_estimated) == 0) {
        check_time(record, cpu);
    }
    if (record.device == abi::no_device || (!plain && record.type != abi::RecordType::access)) {
        cpu.other_time = cpu.time;
    } else {
        check_region(record);
    }
    ++count_;
}

// A part of a trace may have left out anything.
void RecordCheck::check_group(const abi::Record& record, const Cpu& cpu) {
    const Groups::Finding found = groups_.add(record, cpu.next);
    if (part_) {
        return;
    }
    if (!found.wrong.empty()) {
        wrong_(fmt::format("record {}: cpu {} sequence {} {}", count_, record.cpu,
                           record.cpu_sequence, found.wrong));
    }
    first_broken_ = broken_ == 0 ? count_ : first_broken_;
    broken_ += found.broken;
}

std::string RecordCheck::broken_groups() const {
    const std::uint64_t all = broken_ + (part_ ? 0 : groups_.unended());
    return all == 0 ? ""
                    : fmt::format("{} payloads lack a part, the first at record {}", all,
                                  broken_ == 0 ? count_ : first_broken_);
}

// If a file continues another one, a CPU's first number may be anything.
void RecordCheck::out_of_turn(const abi::Record& record, Cpu& cpu) {
    std::uint32_t next = cpu.next.value_or(record.cpu_sequence);
    if (goes_back(record.cpu_sequence, next)) {
        wrong_(fmt::format("record {}: cpu {} goes back to sequence {} from {}", count_, record.cpu,
                           record.cpu_sequence, next - 1));
        cpu.furthest = goes_back(cpu.furthest.value_or(next), next + 1) ? next : cpu.furthest;
        cpu.next = record.cpu_sequence + 1;
        return;
    }
    if (cpu.furthest && goes_back(next, *cpu.furthest)) { // what is in between was there before
        next = goes_back(record.cpu_sequence, *cpu.furthest) ? record.cpu_sequence : *cpu.furthest;
    }
    const Hole hole = hole_at(next, record);
    cpu.next = next;
    if (hole.in_front > 0 && !part_) {
        lost_(fmt::format("record {}: cpu {} lacks {} records from sequence {} on", count_,
                          record.cpu, hole.in_front, hole.first));
        holes_ = add_lost(holes_, hole.in_front);
    }
    if (hole.announced > 0) {
        lost_(fmt::format("record {}: cpu {} lost {} records from sequence {} on", count_,
                          record.cpu, hole.announced, record.cpu_sequence));
        holes_ = add_lost(holes_, hole.announced);
    }
}

// The records of one CPU are in order whatever their times are; each counts as having at least the
// latest time before it. By these times the records of all CPUs must be in order. Estimated times
// are ignored.
inline void RecordCheck::check_time(const abi::Record& record, Cpu& cpu) {
    if (record.time < time_) [[unlikely]] { // no Cpu::time is later
        if (keeps_time(record) && record.time < cpu.time && cpu.time != cpu.other_time) {
            times_back_.add(record.cpu, cpu.time, record.time);
        }
        cpu.time = std::max(cpu.time, record.time);
        if (cpu.time < time_) {
            wrong_(fmt::format("record {}: cpu {}: tick {} comes after tick {}", count_, record.cpu,
                               record.time, time_));
        }
    } else {
        cpu.time = time_ = record.time;
    }
}

inline void RecordCheck::check_region(const abi::Record& record) {
    std::optional<std::uint32_t>& last = locks_[record.device];
    if (last && static_cast<std::int32_t>(record.lock_sequence - *last) <= 0) [[unlikely]] {
        wrong_(fmt::format("record {}: region {} goes from access {} to {}", count_, record.device,
                           *last, record.lock_sequence));
    }
    last = record.lock_sequence;
}

} // namespace mmioscope::trace
