// Laying out the trace area (abi/ring.hpp).
#pragma once

#include "dt/config.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

struct Machine;

/// Bytes a trace area needs at least for `cpus` CPUs.
constexpr std::uint64_t smallest_area(unsigned cpus) {
    return abi::area_head_size +
           cpus * (sizeof(abi::RingHeader) + abi::min_capacity * sizeof(abi::Record));
}

/// Zeroes `where`, lays out header and rings, and starts every CPU's RingWriter. Readers find the
/// area once publish_area() was called.
void make_area(Machine& machine, Range where);

/// Fills in what the area says of the machine: regions, tree, board. `state` becomes running.
void publish_area(Machine& machine, Range guest_tree);

} // namespace mmioscope
