// The devices of a device tree, and the choice of what is traced.
#pragma once

#include "dt/tree.hpp"
#include "mm/memory_map.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Fills `regions` with every `reg` entry that reaches the root, in tree order.
BootError list_regions(const Tree& tree, RegionTable& regions);

/// Fills `memory` with what the tree calls memory.
BootError list_memory(const Tree& tree, MemoryMap& memory);

/// Regions that lie in memory are memory, whatever their nodes say.
void mark_memory(RegionTable& regions, const MemoryMap& memory);

/// Takes `taken` (page-aligned) out of `memory`.
BootError carve(MemoryMap& memory, Range taken);

/// Carries out /chosen's abi::chosen::trace on `map`. `all` leaves out regions that are memory
/// (video RAM, SRAM, flash) and the hypervisor's own; disabled nodes are in, since nothing keeps a
/// driver from them. Later entries win. On an unknown name the error's subject is that name.
BootError select_traced(const Tree& tree, const RegionTable& regions, RegionMap& map);

} // namespace mmioscope
