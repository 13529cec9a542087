// Runs of records that continue the previous one, so that a question is asked once for the whole
// run.
#pragma once

#include "mmioscope/event.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace mmioscope::trace {

/// Any single record; or consecutive accesses of one CPU to one device with the same flags, whose
/// numbers neither have a gap nor wrap.
struct Run {
    const abi::Record* first;
    const abi::Record* last;
    std::size_t count;
    std::size_t writes; ///< number of accesses that write

    std::span<const abi::Record> records() const { return {first, count}; } ///< not for events
};

enum class RunsOf {
    cpu,
    time, ///< and times do not decrease
    task, ///< and Record::task and Record::mode are equal
};

/// Record::type and Record::cpu.
inline std::uint16_t type_and_cpu(const abi::Record& record) {
    static_assert(offsetof(abi::Record, cpu) == offsetof(abi::Record, type) + 1);
    std::uint16_t word;
    std::memcpy(&word, &record.type, sizeof word);
    return word;
}

/// cpu_sequence in the low half; device, flags and pa_high above.
inline std::uint64_t number_and_device(const abi::Record& record) {
    static_assert(std::endian::native == std::endian::little);
    static_assert(offsetof(abi::Record, device) == offsetof(abi::Record, cpu_sequence) + 4);
    std::uint64_t word;
    std::memcpy(&word,
                reinterpret_cast<const std::byte*>(&record) + offsetof(abi::Record, cpu_sequence),
                sizeof word);
    return word;
}

/// The run at the start of `records`, which must not be empty.
template <RunsOf of = RunsOf::cpu, typename T>
Run run_of(std::span<const T> records) {
    const abi::Record& first = record_of(records.front());
    const std::uint16_t kind = type_and_cpu(first);
    std::uint64_t number = number_and_device(first);
    std::size_t writes = abi::is_write(first) ? 1 : 0;
    const T* const begin = records.data();
    if (records.size() == 1 || type_and_cpu(record_of(begin[1])) != kind ||
        number_and_device(record_of(begin[1])) != number + 1) { // alone: often, or hardly ever
        return {&first, &first, 1, writes};
    }
    const std::uint64_t most =
        first.type == abi::RecordType::access ? (std::uint64_t{1} << 32) - first.cpu_sequence : 1;
    const T* const end = begin + std::min<std::uint64_t>(most, records.size());
    const std::uint32_t task = first.task;
    const std::uint8_t mode = first.mode;
    const T* at = begin + 1;
#pragma GCC unroll 8 // each record passes here
    for (; at != end; ++at) {
        const abi::Record& record = record_of(*at);
        if (type_and_cpu(record) != kind || number_and_device(record) != ++number ||
            (of != RunsOf::cpu && record.time < record_of(at[-1]).time) ||
            (of == RunsOf::task && (record.task != task || record.mode != mode))) {
            break;
        }
        writes += abi::is_write(record) ? 1 : 0;
    }
    return {&first, &record_of(at[-1]), static_cast<std::size_t>(at - begin), writes};
}

/// Calls `use(Run)` for each run in `records`.
template <RunsOf of = RunsOf::cpu, typename T, typename Use>
void for_each_run(std::span<const T> records, Use&& use) {
    while (!records.empty()) {
        const Run run = run_of<of>(records);
        use(run);
        records = records.subspan(run.count);
    }
}

/// Adds each run in `records` to each of `counters`.
template <typename T, typename... Counters>
void add_runs(std::span<const T> records, Counters&... counters) {
    for_each_run(records, [&](const Run& run) { (counters.add(run), ...); });
}

} // namespace mmioscope::trace
