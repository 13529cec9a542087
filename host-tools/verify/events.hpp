// The accesses of a trace that QEMU's log must contain.
#pragma once

#include "abi/ring.hpp"
#include "file/trace_reader.hpp"
#include "file/unfinished.hpp"
#include "import/access_log.hpp"
#include "records/losses.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::verify {

struct Events {
    std::vector<importing::Event> all; ///< in the order of the file, unsorted
    trace::LossCounter holes;          ///< records missing in the trace itself
    std::uint64_t records = 0;         ///< number of records of all types
    std::uint64_t of_memory = 0;       ///< of watched memory, which QEMU does not log
    std::vector<trace::UnfinishedAccess> unfinished;
};

/// Reads `reader` to its end: records of type access and own, faults by an external abort (these
/// accesses were on the bus), and what may have been there: walks, and faults that do not know.
Events read_events(trace::TraceReader& reader);

// Finds the region of a trace that contains an address.

/// Finds the narrowest region that contains an address.
class RegionFinder {
public:
    explicit RegionFinder(std::span<const abi::RegionEntry> regions) : regions_(regions) {}

    std::uint32_t operator()(std::uint64_t address) const {
        std::uint32_t best = abi::no_device;
        for (std::uint32_t i = 0; i < regions_.size(); ++i) {
            const abi::RegionEntry& region = regions_[i];
            const bool holds = address >= region.base && address - region.base < region.size;
            if (holds && (best == abi::no_device || region.size < regions_[best].size)) {
                best = i;
            }
        }
        return best;
    }

private:
    std::span<const abi::RegionEntry> regions_;
};

} // namespace mmioscope::verify
