// Opening a page of the normal table for all CPUs at once. Only the `unprotect` baseline does it
// (engine/unprotect.hpp): it is what loses events.
//
// A page that traps has a descriptor of its own, whole but for its valid bit. Bits 58:55, which
// are software's (ARM ARM B3.6.2), count the CPUs that have it open, so that one compare and swap
// changes count and validity together: the page is valid while anybody needs it, without a lock.
#pragma once

#include "mm/translation_table.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Gives each page of `normal` that traps its closed descriptor, with the attributes that `open`, a
/// table that maps them, has. Before any CPU uses `normal`. False when the pool is empty.
[[nodiscard]] bool add_shared_pages(TranslationTable& normal, const TranslationTable& open,
                                    const RegionMap& map, TablePool& pool);

/// The guest of every CPU reaches the page of `entry`, which add_shared_pages() made, from here
/// until as many close_shared_page() as open_shared_page() were called.
void open_shared_page(lpae::Descriptor& entry);
/// When this returns, no CPU has a translation of a page that nobody has open.
void close_shared_page(lpae::Descriptor& entry);

} // namespace mmioscope
