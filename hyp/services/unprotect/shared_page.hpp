// Opens a page of the normal table for all CPUs at once. Only the `unprotect` baseline does this
// (unprotect/unprotect.hpp), and loses events by it.
//
// A page that traps has its own descriptor, complete except for the valid bit; of a device of 2 MiB
// and more each whole block has one, and counts as a page here. Bits 58:55, which
// are reserved for software (ARM ARM B3.6.2), count the CPUs that have the page open. So one
// compare and swap changes count and validity together, and the page is valid as long as any CPU
// needs it, without a lock.
#pragma once

#include "mm/translation_table.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Gives each page of `normal` that traps a closed descriptor, with the attributes it has in the
/// table `open`. Called before any CPU uses `normal`. False: the pool is empty.
[[nodiscard]] bool add_shared_pages(TranslationTable& normal, const TranslationTable& open,
                                    const RegionMap& map, TablePool& pool);

/// The descriptor that add_shared_pages() has made for the page at `address`.
lpae::Descriptor& shared_descriptor(const TranslationTable& normal, std::uint64_t address);

/// Opens the page of `entry` (shared_descriptor()) for the guest of every CPU, until
/// close_shared_page() has been called as often as open_shared_page().
void open_shared_page(lpae::Descriptor& entry);
/// When this returns and no CPU has the page open, no CPU has a translation of it.
void close_shared_page(lpae::Descriptor& entry);

} // namespace mmioscope
