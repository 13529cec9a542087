// Follows records and their payload (abi/payload.hpp): which groups lack a part.
#pragma once

#include "abi/container.hpp"
#include "abi/payload.hpp"
#include "abi/record.hpp"
#include "records/kinds.hpp"
#include "records/runs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mmioscope::trace {

/// Whether `record`, the one behind `before`, is a part of the same group.
bool belong_together(const abi::Record& before, const abi::Record& record);

/// How many of the first of `records` may be separated from all behind them: not the last group if
/// it goes on. All of them if that is longer than any group is.
std::size_t whole_groups(std::span<const abi::Record> records);

class Groups {
public:
    /// What the next record of a CPU shows.
    struct Finding {
        unsigned broken = 0;    ///< groups of which a part is missing, each told once
        std::string_view wrong; ///< what no loss explains; empty: nothing
    };

    /// Whether add() must be called for `record`; otherwise it need not be.
    bool minds(const abi::Record& record) const {
        return abi::goes_on(record) || record.type == abi::RecordType::payload ||
               cpus_[record.cpu].before.has_value();
    }
    /// Adds the next record; each CPU's in the order in which it published them. `next`: the
    /// cpu_sequence of the record behind its CPU's last one, if there was one.
    Finding add(const abi::Record& record, std::optional<std::uint32_t> next);
    /// Whether a piece should follow some CPU's last record.
    bool open() const { return open_ != 0; }
    /// Nothing follows. Returns how many groups have no end.
    unsigned unended() const { return open_; }

private:
    struct Cpu {
        std::optional<abi::Record> before;  ///< the last record, if a piece follows it
        std::optional<std::uint32_t> owner; ///< of the last group that was told
    };

    std::array<Cpu, 256> cpus_; ///< by Record::cpu
    unsigned open_ = 0;         ///< those with a `before`
};

/// "of 4711 at 32: 0011..": whose it is, by cpu_sequence, from which byte on, and the bytes.
/// `hidden`: without the bytes.
std::string payload_text(const abi::Record& piece, bool hidden = false);

// Follows the begin records of a trace in `pre` mode: which accesses have begun but not ended.

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
