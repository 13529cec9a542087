// Takes the records from all rings of a trace area, in the order of time.
#pragma once

#include "rings/area.hpp"
#include "rings/merge.hpp"
#include "rings/ring_reader.hpp"

#include <string>
#include <vector>

namespace mmioscope::rings {

class OrderedRings {
public:
    /// Reads the rings of `area`, which stays the caller's, as their reader `reader`. Where it
    /// comes late, nothing is taken that is earlier than something it has missed.
    OrderedRings(const Area& area, unsigned reader);

    /// One pass over all rings; appends what has its place now to `ordered`. Returns the number of
    /// records taken out of the rings.
    std::size_t pass(std::vector<abi::Record>& ordered);

    /// From now on, nothing is taken that is published later.
    void stop();
    /// Nothing that was taken still waits for its place.
    bool settled() const { return merge_.empty(); }
    /// What waits for its place gets it: nothing will be taken any more.
    void flush(std::vector<abi::Record>& ordered) { merge_.flush(ordered); }
    /// The writers wait no longer for this reader.
    void leave();

    std::uint64_t damaged() const { return damaged_; } ///< records whose slot held another
    const std::vector<RingReader>& rings() const { return rings_; }

    /// Accesses that have begun and have no record: lines "key=value".
    std::string unfinished() const;

private:
    std::vector<RingReader> rings_;
    Merge merge_;
    std::uint64_t damaged_ = 0;
    std::uint64_t latest_ = 0; ///< greatest time taken out in earlier passes
    std::uint64_t missed_ = 0; ///< greatest time that was there before this reader
    std::vector<abi::Record> taken_;
};

} // namespace mmioscope::rings
