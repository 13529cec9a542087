// The devices of a device tree, and which of them are traced.
#pragma once

#include "dt/tree.hpp"
#include "mm/memory_map.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Fills `regions` with every `reg` entry whose address reaches the root, and the windows of PCI
/// hosts behind theirs, in the tree's order. A prefetchable window is memory. `beyond_reach`: the
/// first node of which a part lies above 4 GiB, where nothing is mapped; negative: none.
BootError list_regions(const Tree& tree, RegionTable& regions, int& beyond_reach);

/// Fills `memory` with the tree's memory nodes, which must not overlap.
BootError list_memory(const Tree& tree, MemoryMap& memory);

/// Fills `no_map` with the pages of what /reserved-memory says `no-map` of (reserved-memory.yaml):
/// firmware or another core may keep it for itself, so not even a speculative access may go there.
/// A node that is disabled counts, too, and one that /reserved-memory does not translate has the
/// root's addresses. A node without `reg` has no place before the guest chooses one.
BootError list_no_map(const Tree& tree, MemoryMap& no_map);

/// Marks regions that lie in memory as memory, whatever their nodes say.
void mark_memory(RegionTable& regions, const MemoryMap& memory);

/// Appends all of the guest's `memory` as one region, if that has not been done: the map does not
/// have it, so only who asks for it here selects it. False: no room.
[[nodiscard]] bool add_memory(RegionTable& regions, const MemoryMap& memory, Range own);

/// Removes `taken` (page-aligned) from `memory`.
BootError carve(MemoryMap& memory, Range taken);

/// Applies /chosen's abi::chosen::trace to `map`. `all` leaves out regions that are memory (video
/// RAM, SRAM, flash) and the hypervisor's own. It includes disabled nodes, since nothing keeps a
/// driver from them. Later entries override earlier ones. For an unknown name the error's subject
/// is that name.
BootError select_traced(const Tree& tree, const RegionTable& regions, RegionMap& map);

} // namespace mmioscope
