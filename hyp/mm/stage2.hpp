// The guest's tables. The normal one leaves pages with traced bytes invalid; the shadow one of
// each CPU maps them too, and only that CPU ever loads it (mm/guest_view.hpp).
#pragma once

#include "mm/memory_map.hpp"
#include "mm/translation_table.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Builds a table that maps `memory` and every page that holds a region's bytes; pages that trap
/// are mapped only `with_trapped`, withheld ones never. False when the pool is empty.
[[nodiscard]] bool build_stage2(TranslationTable& table, const MemoryMap& memory,
                                const RegionTable& regions, const RegionMap& map, bool with_trapped,
                                TablePool& pool);

} // namespace mmioscope
