// The device that carries the trace out. Recording its accesses would cause more of them.
#pragma once

#include "abi/ring.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::guest {

/// The regions of the device that carries what is written to `fd`: the disk of a file, or the
/// network device of a connected socket. None if there is no such device: a file in memory, a pipe,
/// another program on this machine. If `regions` does not have the device itself, takes the nearest
/// one above it on the buses.
std::vector<std::uint16_t> carrier_of(int fd, std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::guest
