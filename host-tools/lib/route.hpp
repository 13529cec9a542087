// Which parts of a file are read for a range of time.
#pragma once

#include "lib/file_index.hpp"

#include <cstddef>
#include <cstdint>

namespace mmioscope::trace {

/// Goes front to back over the stretches of an index.
class Route {
public:
    Route(FileIndex index, const TimeSpan& wanted) : index_(std::move(index)), wanted_(wanted) {}

    /// Where to read next: `offset`, or the first stretch behind it that has records of wanted
    /// times or anything but records and their callers. Behind the last stretch nothing is left
    /// out. Offsets never fall.
    std::uint64_t next(std::uint64_t offset);

    /// The stretch of `offset`, which is not below the last one, has records of wanted times.
    bool has_times(std::uint64_t offset);

private:
    void advance(std::uint64_t offset);
    bool has_times() const;

    FileIndex index_;
    TimeSpan wanted_;
    std::size_t place_ = 0; ///< the stretch that the offset asked for last is in
};

} // namespace mmioscope::trace
