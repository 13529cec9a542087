// The guest's RAM.
#pragma once

#include "base/address.hpp"
#include "base/fixed_vector.hpp"

namespace mmioscope {

/// What the device tree calls memory, less the hypervisor's own; page-aligned, below 4 GiB.
using MemoryMap = FixedVector<Range, 16>;

} // namespace mmioscope
