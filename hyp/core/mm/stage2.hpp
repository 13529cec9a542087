// The guest's stage-2 tables. In the normal table, pages with traced bytes are invalid. Each CPU's
// shadow table maps them too; only that CPU ever loads it (mm/guest_view.hpp). Shadow tables have
// roots of their own and share the tables below, which are constant.
#pragma once

#include "mm/memory_map.hpp"
#include "mm/translation_table.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

/// Builds a table that maps `memory` and every page that contains a region's bytes. Pages that trap
/// are mapped only `with_trapped`, withheld ones never. `as_memory`: how memory is mapped. False:
/// the pool is empty.
[[nodiscard]] bool build_stage2(TranslationTable& table, const MemoryMap& memory,
                                const RegionTable& regions, const RegionMap& map, bool with_trapped,
                                TablePool& pool, lpae::Attributes as_memory = lpae::guest_memory);

} // namespace mmioscope
