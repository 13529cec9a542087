// Pages of the normal table that become valid or invalid while the guest runs, when a command
// changes what is traced.
//
// Each such page gets its own descriptor at boot. So a change is one store of a valid or an invalid
// descriptor: break-before-make does not apply, and no memory is needed.
#pragma once

#include "mm/translation_table.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Gives the device pages in `map` their own descriptors in `normal`, and marks the spans as
/// changeable. Not those that are withheld, memory that is not traced from the start, and regions
/// larger than 16 MiB. Called before any CPU uses `normal`. False: the pool is empty.
[[nodiscard]] bool prepare_changing_pages(TranslationTable& normal, const RegionTable& regions,
                                          RegionMap& map, TablePool& pool);

/// The descriptor of the page at `page` for the normal table: 0 while the page traps, else the one
/// it would have had from the start.
lpae::Descriptor page_descriptor(const RegionMap& map, const TranslationTable& shadow,
                                 std::uint64_t page);

} // namespace mmioscope
