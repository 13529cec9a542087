#include "lib/record_check.hpp"

#include "lib/lost.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::trace {

void RecordCheck::add(std::span<const abi::Record> records) {
    for (const abi::Record& record : records) {
        check_cpu(record);
        check_time(record);
        check_region(record);
        ++count_;
    }
}

// A gap record stands in the place of the first record that it tells of. Where a file goes on with
// what another one began, the first number of a CPU is any.
void RecordCheck::check_cpu(const abi::Record& record) {
    Cpu& cpu = cpus_[record.cpu];
    const std::uint32_t hole = record.cpu_sequence - cpu.next.value_or(record.cpu_sequence);
    if (static_cast<std::int32_t>(hole) < 0) {
        wrong_(fmt::format("record {}: cpu {} goes back to its record {} from {}", count_,
                           record.cpu, record.cpu_sequence, *cpu.next - 1));
    } else if (hole > 0 && !part_) {
        lost_(fmt::format("record {}: cpu {} lacks {} records from its record {} on", count_,
                          record.cpu, hole, *cpu.next));
        holes_ = add_lost(holes_, hole);
    }
    cpu.next = record.cpu_sequence + 1;
    if (record.type == abi::RecordType::gap) {
        lost_(fmt::format("record {}: cpu {} lost {} records from its record {} on", count_,
                          record.cpu, record.value, record.cpu_sequence));
        holes_ = add_lost(holes_, record.value);
        cpu.next = record.cpu_sequence + static_cast<std::uint32_t>(record.value);
    }
}

// A CPU's own order holds whatever its times say; what it has published counts as late as the
// latest time up to there, and in that all CPUs' records are in order. An estimated time says
// nothing.
void RecordCheck::check_time(const abi::Record& record) {
    if ((record.flags & abi::flag_estimated) != 0) {
        return;
    }
    Cpu& cpu = cpus_[record.cpu];
    cpu.time = std::max(cpu.time, record.time);
    if (cpu.time < time_) {
        wrong_(fmt::format("record {}: cpu {}, at tick {}, stands behind tick {}", count_,
                           record.cpu, record.time, time_));
    }
    time_ = std::max(time_, cpu.time);
}

void RecordCheck::check_region(const abi::Record& record) {
    if (record.type != abi::RecordType::access || record.device == abi::no_device) {
        return;
    }
    const auto [last, first] = locks_.try_emplace(record.device, record.lock_sequence);
    if (!first && static_cast<std::int32_t>(record.lock_sequence - last->second) <= 0) {
        wrong_(fmt::format("record {}: region {} goes from its access {} to {}", count_,
                           record.device, last->second, record.lock_sequence));
    }
    last->second = record.lock_sequence;
}

} // namespace mmioscope::trace
