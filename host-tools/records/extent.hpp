// A summary of some records: their number and times, and whether other records depend on them.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"
#include "records/kinds.hpp"
#include "records/runs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace mmioscope::trace {

/// Times from the earliest to the latest, both included; initially empty.
struct TimeSpan {
    std::uint64_t earliest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t latest = 0;

    void add(std::uint64_t time) {
        earliest = std::min(earliest, time);
        latest = std::max(latest, time);
    }
    bool has(std::uint64_t time) const { return time >= earliest && time <= latest; }
    bool overlaps(const TimeSpan& other) const {
        return earliest <= other.latest && other.earliest <= latest;
    }
};

/// A summary of some records.
struct Extent {
    std::uint64_t records = 0;
    TimeSpan times = {};
    bool teaches = false; ///< later records may depend on them (abi::index_teaches)
    bool begins = false;  ///< some may be of type `begin` (abi::index_begins)

    /// Bits of IndexEntry::types.
    std::uint32_t index_bits() const {
        return (teaches ? abi::index_teaches : 0) | (begins ? abi::index_begins : 0);
    }

    void add(const Run& run); ///< RunsOf::time
    void add(std::span<const abi::Record> more);
};

Extent extent_of(std::span<const abi::Record> records);

} // namespace mmioscope::trace
