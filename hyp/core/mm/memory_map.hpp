// Lists of parts of memory, such as the guest's RAM.
#pragma once

#include "base/address.hpp"
#include "base/fixed_vector.hpp"

namespace mmioscope {

/// Parts of memory: page-aligned, below 4 GiB.
using MemoryMap = FixedVector<Range, 32>;

/// Whether `address` is in one of them.
inline bool in_memory(const MemoryMap& memory, PhysicalAddress address) {
    for (const Range& range : memory)
        if (range.contains(address.value)) return true;
    return false;
}

} // namespace mmioscope
