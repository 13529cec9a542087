// Follows the begin records of a trace in `pre` mode: which accesses have begun but not ended.
#pragma once

#include "abi/container.hpp"
#include "abi/record.hpp"
#include "records/kinds.hpp"
#include "records/runs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace mmioscope::trace {

class OpenAccesses {
public:
    /// Adds the next record of the stream; each CPU's in the order in which it published them.
    /// Returns the begin record of an access that has no end, because its CPU went on without one.
    /// Nothing if records are missing in between: then nobody knows.
    std::optional<abi::Record> add(const abi::Record& record);

    /// Whether no access is open.
    bool empty() const { return begun_.empty(); }
    /// The begin records of accesses whose CPUs have published nothing since, by CPU.
    std::vector<abi::Record> open() const;

private:
    std::map<unsigned, abi::Record> begun_;
};

// A summary of some records: their number and times, and whether other records depend on them.

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
    bool groups = false;  ///< some may be payloads

    /// Bits of IndexEntry::types.
    std::uint32_t index_bits() const {
        return (teaches ? abi::index_teaches : 0) | (begins ? abi::index_begins : 0);
    }

    void add(const Run& run); ///< RunsOf::time
    void add(std::span<const abi::Record> more);
};

Extent extent_of(std::span<const abi::Record> records);

} // namespace mmioscope::trace
