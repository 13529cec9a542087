// Builds the translation tables.
//
// Hyp's own stage 1: everything at its physical address, nothing both writable and executable,
// guard pages below the stacks.
//
// The guest's stage 2: in the normal view, pages with traced bytes are invalid. Each CPU's shadow
// view maps them too; only that CPU ever enters it (mm/guest_view.hpp). Views have roots of their
// own. Below them the shadow views share the tables of devices, and each has those of memory in
// common with its CPU's normal view.
#pragma once

#include "board/uart.hpp"
#include "mm/memory_map.hpp"
#include "mm/stage1.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Builds the first table: the image, the tree at `boot_tree`, and the UART if there is one. False:
/// the pool is empty. The tree is read by words in Normal memory, before anything else is known.
[[nodiscard]] bool build_boot_stage1(TranslationTable& table, const ImageLayout& image,
                                     Range boot_tree, const Uart& uart, TablePool& pool);

/// Builds the final table: the image, the UART, the guest's memory without `no_map`, all devices
/// that are not memory, the trace area (uncached if it is `shared` with the guest), and the tree at
/// `boot_tree`. All memory that is not the hypervisor's is Non-cacheable. False: the pool is empty.
[[nodiscard]] bool build_stage1(TranslationTable& table, const ImageLayout& image, Range boot_tree,
                                const Uart& uart, const MemoryMap& memory, const MemoryMap& no_map,
                                const RegionTable& regions, const RegionMap& map, bool shared,
                                TablePool& pool);

/// Builds a table that maps `memory` and every page that contains a region's bytes: of the normal
/// view without those that trap; of a shadow view with them, but without what is withheld. What a
/// shadow view has in common with `normal` is in the same tables. `as_memory`: how memory is
/// mapped. False: the pool is empty.
[[nodiscard]] bool build_stage2(TranslationTable& table, const TranslationTable* normal,
                                const MemoryMap& memory, const RegionTable& regions,
                                const RegionMap& map, lpae::Attributes as_memory, TablePool& pool);

} // namespace mmioscope
