// The guest's own stage-1 translation, made by the hardware.
#pragma once

#include "base/address.hpp"
#include "entry/frame.hpp"

#include <optional>

namespace mmioscope {

/// The address that a read of `va` in the guest's present mode would reach; empty if it would
/// fault.
std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va);

/// Likewise of a store.
std::optional<PhysicalAddress> translate_store(const Frame& frame, VirtualAddress va);

/// Whether the guest's own tables make a read of `va` fault. Not known, so false, if one of them is
/// in a page that traps.
bool is_unmapped(const Frame& frame, VirtualAddress va);

} // namespace mmioscope
