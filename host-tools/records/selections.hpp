// Which devices were traced when: the flags of the regions have the initial state, records have the
// changes.
#pragma once

#include "abi/record.hpp"
#include "abi/ring.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace mmioscope::trace {

enum class Traced : std::uint8_t { no, yes, in_part };

/// The history of one region, or of all. In constant memory: only the first few changes.
struct TracedHistory {
    struct Change {
        std::uint64_t time; ///< as in records
        Traced now;
    };
    static constexpr std::size_t most_kept = 4;

    void add(std::uint64_t time, Traced now);

    Traced at_first = Traced::yes;
    std::vector<Change> first; ///< at most this many
    std::uint64_t count = 0;   ///< of all changes
    Change last{};
};

class Selections {
public:
    /// Adds each record, in the order of time, of a trace with these regions.
    void add(const abi::Record& record, std::span<const abi::RegionEntry> regions);

    /// Null: no change since its flags.
    const TracedHistory* of(std::uint16_t region) const;
    /// The effect of stop and start, independent of the selection; null: none.
    const TracedHistory* of_all() const { return all_.count > 0 ? &all_ : nullptr; }

private:
    std::map<std::uint16_t, TracedHistory> regions_; ///< regions that changed
    TracedHistory all_;
};

} // namespace mmioscope::trace
