// Which parts of a file must be read for some of its records.
#pragma once

#include "file/index.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace mmioscope::trace {

/// Numbers of records, from 1 on in the order of the trace; both ends are in it.
struct NumberSpan {
    std::uint64_t first = 1;
    std::uint64_t last = std::numeric_limits<std::uint64_t>::max();

    bool has(std::uint64_t number) const { return number >= first && number <= last; }
};

/// The records that somebody wants.
struct Wanted {
    TimeSpan times{0, std::numeric_limits<std::uint64_t>::max()};
    NumberSpan numbers{};
    /// All in front of them, too: not only such that teach (Extent).
    bool with_all_before = false;
};

/// Goes front to back over the stretches of an index: those that have wanted records, those in
/// front of them that teach something of them, and those with anything but records.
class Route {
public:
    /// `index` outlives this. So many records are in the files in front of this one.
    Route(const FileIndex& index, const Wanted& wanted, std::uint64_t records_before);

    /// Where to read next: `offset`, or the first such stretch behind it. Behind the last stretch
    /// nothing is left out. Offsets never fall.
    std::uint64_t next(std::uint64_t offset);

    /// The records at `offset`, which is not below the last one, are to be read.
    bool has_records(std::uint64_t offset);

    /// How many records of the trace are in front of `offset`, if a stretch begins there.
    std::optional<std::uint64_t> records_before(std::uint64_t offset);

private:
    void advance(std::uint64_t offset);
    bool is_wanted(std::size_t stretch) const;
    bool is_read(std::size_t stretch) const;

    const FileIndex& index_;
    Wanted wanted_;
    std::uint64_t records_before_;
    std::size_t wanted_end_ = 0; ///< behind the last stretch that has wanted records
    std::size_t place_ = 0;      ///< the stretch that the offset asked for last is in
};

} // namespace mmioscope::trace
