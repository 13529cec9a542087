// The index of a trace file (abi/container.hpp) in the making, by whoever writes the file.
#pragma once

#include "abi/container.hpp"
#include "lib/runs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace mmioscope::trace {

/// Times from the earliest to the latest, both of them in it; at first none.
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

/// What some records are, seen from outside.
struct Extent {
    std::uint64_t records = 0;
    TimeSpan times = {};
    bool teaches = false; ///< they may tell something of records behind them (abi::index_teaches)

    void add(const Run& run); ///< RunsOf::time
    void add(std::span<const abi::Record> more);
};

/// A record of this type tells something of those behind it: what a task or a module is called, how
/// a text begins.
constexpr bool teaches(abi::RecordType type) {
    return type == abi::RecordType::task || type == abi::RecordType::marker;
}

Extent extent_of(std::span<const abi::Record> records);

inline constexpr std::size_t max_index_entries = 4096;

/// Makes an index section by section. However long the file, it has at most max_index_entries:
/// when they are used up, each two neighbours become one.
class IndexBuilder {
public:
    /// The next section: its header stands at `offset`. `records` are in it.
    void add(abi::SectionType type, std::uint64_t offset, const Extent& records);

    std::span<const abi::IndexEntry> entries() const { return entries_; }

private:
    abi::IndexEntry& entry_for(std::uint64_t offset);
    void join();

    std::vector<abi::IndexEntry> entries_;
    std::uint64_t records_ = 0;
    bool open_ = false; ///< the last section is for the next one: both are of one stretch
    /// Bytes of the file: a stretch is as long, or has a record for each 16 of them, or more.
    std::uint64_t grain_ = 64 * 1024;
};

/// The payload of an index section whose header stands at `end`.
std::vector<std::byte> index_payload(std::span<const abi::IndexEntry> entries, std::uint64_t end);

} // namespace mmioscope::trace
