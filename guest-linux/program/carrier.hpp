// The device that the trace leaves through: recording its accesses would make more of them.
#pragma once

#include "abi/ring.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::guest {

/// The regions of the device that what is written to `fd` goes through: the disk of a file, or the
/// network device of a connected socket. None where there is no such device: a file in memory, a
/// pipe, another program on this machine. The device is the closest one to it, on its way through
/// the buses, that `regions` knows.
std::vector<std::uint16_t> carrier_of(int fd, std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::guest
