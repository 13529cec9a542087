// Finds which parts of a file must be read for some of its records.
#pragma once

#include "file/index.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace mmioscope::trace {

/// Numbers of records, from 1 in the order of the trace; both ends are included.
struct NumberSpan {
    std::uint64_t first = 1;
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

    bool has(std::uint64_t number) const { return number >= first && number <= last; }
};

/// The records that somebody wants.
struct Wanted {
    TimeSpan times{0, std::numeric_limits<std::uint64_t>::max()};
    NumberSpan numbers{};
    /// all records before them, not only those that teach (Extent)
    bool with_all_before = false;
};

/// Goes through the stretches of an index from front to back. Selects those with wanted records,
/// those before them that teach something about these, and those with sections other than records.
class Route {
public:
    /// `index` outlives this. The files before this one have `records_before` records.
    Route(const FileIndex& index, const Wanted& wanted, std::uint64_t records_before);

    /// Where to read next: `offset`, or the first selected stretch after it. Nothing is skipped
    /// after the last stretch. Offsets must not decrease.
    std::uint64_t next(std::uint64_t offset);

    /// Whether the records at `offset` must be read. `offset` must not be below the last one.
    bool has_records(std::uint64_t offset);

    /// The number of the trace's records before `offset`, if a stretch begins there.
    std::optional<std::uint64_t> records_before(std::uint64_t offset);

private:
    void advance(std::uint64_t offset);
    bool is_wanted(std::size_t stretch) const;
    bool is_read(std::size_t stretch) const;

    const FileIndex& index_;
    Wanted wanted_;
    std::uint64_t records_before_;
    std::size_t wanted_end_ = 0; ///< after the last stretch with wanted records
    std::size_t place_ = 0;      ///< the stretch with the latest offset
};

} // namespace mmioscope::trace
