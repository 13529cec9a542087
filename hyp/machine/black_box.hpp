// Keeps the previous boot's last records for the readers of this boot, or, at a `snapshot` request,
// this boot's own.
#pragma once

#include "abi/ring.hpp"
#include "machine/area_layout.hpp"

namespace mmioscope {

/// Copies the end of the area at `where` to its kept_offset, if there is an intact area with the
/// layout `layout` for `cpus` CPUs. Checks everything that it reads there. Bounded: kept_records of
/// each CPU. Returns the result.
abi::Kept keep_previous_boot(Range where, const AreaLayout& layout, unsigned cpus);

/// Whether the area has room for a snapshot.
bool can_keep(const abi::AreaHeader& area);

/// Replaces the previous boot's records by the last kept_records records of each CPU of this boot,
/// while the CPUs go on. Bounded by that number. Only one CPU at a time may call it.
void keep_snapshot(abi::AreaHeader& area);

/// The area of the previous boot in `area`; null if none was kept.
inline const abi::AreaHeader* previous_boot(const abi::AreaHeader& area) {
    if (area.kept != abi::Kept::kept) return nullptr;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&area);
    return reinterpret_cast<const abi::AreaHeader*>(bytes + area.kept_offset);
}

/// The checksum for `area.description_crc`.
std::uint32_t description_crc(const abi::AreaHeader& area);

} // namespace mmioscope
