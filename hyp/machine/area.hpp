// Laying out the trace area (abi/ring.hpp).
#pragma once

#include "dt/config.hpp"
#include "machine/area_layout.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

struct Machine;

/// Keeps the end of what a previous boot left in `where`, lays out header and rings, whose slots
/// stay as they are, and starts every CPU's RingWriter. Readers find the area once publish_area()
/// was called.
void make_area(Machine& machine, Range where);

/// Fills in what the area says of the machine: regions, tree, board. `state` becomes running.
void publish_area(Machine& machine, Range guest_tree);

} // namespace mmioscope
