// Takes the records from all rings of a trace area, in the order of time.
#pragma once

#include "file/unfinished.hpp"
#include "rings/area.hpp"
#include "rings/merge.hpp"
#include "rings/ring_reader.hpp"

#include <vector>

namespace mmioscope::rings {

class OrderedRings {
public:
    /// Reads the rings of `area`, which belongs to the caller, as reader number `reader`. If it
    /// missed records, it takes none that are earlier than these.
    OrderedRings(const Area& area, unsigned reader);

    /// One pass over all rings. Appends to `ordered` the records whose place is certain. Returns
    /// the number of records taken from the rings.
    std::size_t pass(std::vector<abi::Record>& ordered);

    /// From now on takes only records published before this call.
    void stop();
    /// Whether all records taken have been returned.
    bool settled() const { return merge_.empty(); }
    /// Returns the records still held back: nothing will be taken any more.
    void flush(std::vector<abi::Record>& ordered) { merge_.flush(ordered); }
    /// The writers no longer wait for this reader.
    void leave();

    std::uint64_t damaged() const { return damaged_; } ///< records whose slot held a different one
    const std::vector<RingReader>& rings() const { return rings_; }

    /// Accesses that began and have no record.
    std::vector<trace::UnfinishedAccess> unfinished() const;

private:
    std::vector<RingReader> rings_;
    Merge merge_;
    std::uint64_t damaged_ = 0;
    std::uint64_t latest_ = 0; ///< latest time taken in earlier passes
    std::uint64_t missed_ = 0; ///< latest time before this reader began
    std::vector<abi::Record> taken_;
};

} // namespace mmioscope::rings
