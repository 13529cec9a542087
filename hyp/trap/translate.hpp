// The guest's own stage-1 translation, asked of the hardware.
#pragma once

#include "base/address.hpp"
#include "entry/frame.hpp"

#include <optional>

namespace mmioscope {

/// Where a read of `va` by the guest's current mode goes; empty if it would fault.
std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va);

} // namespace mmioscope
