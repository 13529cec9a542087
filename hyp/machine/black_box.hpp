// What the previous boot has left in the trace area, kept for the readers of this one; or, on
// request, what this one has to say by then.
#pragma once

#include "abi/ring.hpp"
#include "machine/area_layout.hpp"

namespace mmioscope {

/// Copies the end of the area that lies at `where`, if one does that holds together and has the
/// layout `layout` for `cpus` CPUs, to its kept_offset. Nothing it says is believed unchecked, and
/// the work is bounded: kept_records of each CPU. Returns what came of it.
abi::Kept keep_previous_boot(Range where, const AreaLayout& layout, unsigned cpus);

/// Whether there is a place for a snapshot.
bool can_keep(const abi::AreaHeader& area);

/// Puts the last kept_records records of each CPU of this boot in the place of the previous one's,
/// while the CPUs go on. Bounded by that number. One CPU at a time.
void keep_snapshot(abi::AreaHeader& area);

/// The area of the previous boot in `area`; null if none was kept.
inline const abi::AreaHeader* previous_boot(const abi::AreaHeader& area) {
    if (area.kept != abi::Kept::kept) return nullptr;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&area);
    return reinterpret_cast<const abi::AreaHeader*>(bytes + area.kept_offset);
}

/// Its sum, to be put in its header.
std::uint32_t description_crc(const abi::AreaHeader& area);

} // namespace mmioscope
