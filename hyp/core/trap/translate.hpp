// The guest's own stage-1 translation, made by the hardware.
#pragma once

#include "base/address.hpp"
#include "entry/frame.hpp"

#include <optional>

namespace mmioscope {

struct Cpu;

/// The address that a read of `va` in the guest's present mode would reach; empty if it would
/// fault, or if one of the guest's tables on the way lies in a page that traps.
std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va);
/// Likewise of a store.
std::optional<PhysicalAddress> translate_store(const Frame& frame, VirtualAddress va);
/// As translate(), for a read or a write, and also through tables in pages that trap: the walk then
/// reads the device once more.
std::optional<PhysicalAddress> translate(Cpu& cpu, const Frame& frame, VirtualAddress va,
                                         bool write);

/// Whether the guest's own tables make a read of `va` fault. Not known, so false, if one of them is
/// in a page that traps.
bool is_unmapped(const Frame& frame, VirtualAddress va);

} // namespace mmioscope
