// Finds the region of a trace that contains an address.
#pragma once

#include "abi/ring.hpp"

#include <cstdint>
#include <span>

namespace mmioscope::verify {

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
