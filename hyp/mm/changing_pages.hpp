// Pages of the normal table that come and go while the guest runs, as what is traced changes.
//
// Every page that may is given a descriptor of its own at boot, so that a change is one store of
// one valid or invalid descriptor (break-before-make has nothing to break) and takes no memory.
#pragma once

#include "mm/translation_table.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Gives the pages of the devices in `map` their descriptors in `normal`, and marks the spans as
/// changeable. Left out are what is withheld, memory that is not traced from the start, and what is
/// larger than 16 MiB. Before any CPU uses `normal`. False when the pool is empty.
[[nodiscard]] bool prepare_changing_pages(TranslationTable& normal, const RegionTable& regions,
                                          RegionMap& map, TablePool& pool);

/// The descriptor that the page at `page` has in the normal table: none while it traps, else what
/// it would have had from the start.
lpae::Descriptor page_descriptor(const RegionMap& map, const TranslationTable& shadow,
                                 std::uint64_t page);

/// When this returns no CPU uses a translation that the tables do not have: broadcast, and no
/// interrupt. Accesses made with an older one are complete (ARM ARM B3.10.1).
void forget_on_all_cpus();

} // namespace mmioscope
