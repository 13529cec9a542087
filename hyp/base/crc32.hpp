// CRC-32 of IEEE 802.3, zlib's and that of the trace file (abi/container.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope {

/// By half bytes: a table of 64 bytes, since this runs seldom.
std::uint32_t crc32(const std::uint8_t* bytes, std::size_t size);

} // namespace mmioscope
