// The guest's RAM.
#pragma once

#include "base/address.hpp"
#include "base/fixed_vector.hpp"

namespace mmioscope {

/// The device tree's memory without the hypervisor's; page-aligned, below 4 GiB.
using MemoryMap = FixedVector<Range, 16>;

/// Whether `address` is in the guest's RAM.
inline bool in_memory(const MemoryMap& memory, PhysicalAddress address) {
    for (const Range& range : memory)
        if (range.contains(address.value)) return true;
    return false;
}

} // namespace mmioscope
