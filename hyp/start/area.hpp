// Laying out the trace area (abi/ring.hpp).
#pragma once

#include "dt/config.hpp"
#include "machine/area_layout.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

struct Machine;

/// Keeps the end of what a previous boot left in `where`, writes the headers of area and rings (the
/// records stay as they are), and starts each CPU's RingWriter. Readers find the area only after
/// publish_area().
void make_area(Machine& machine, Range where);

/// Writes what describes the machine: regions, device tree, board. `state` becomes running.
void publish_area(Machine& machine, Range guest_tree);

/// The checksum for `area.description_crc` of an area with `regions` regions, at most
/// abi::max_regions: the count in its header is not used.
std::uint32_t description_crc(const abi::AreaHeader& area, std::uint32_t regions);

} // namespace mmioscope
