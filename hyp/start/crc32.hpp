// CRC-32 of IEEE 802.3, as in zlib and in the trace file (abi/container.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope {

/// Works by words, with 4 KiB of tables.
std::uint32_t crc32(const std::uint8_t* bytes, std::size_t size);

/// The same in pieces: begin with crc32_start, add with crc32_more(), end with crc32_end().
inline constexpr std::uint32_t crc32_start = ~0u;
std::uint32_t crc32_more(std::uint32_t so_far, const std::uint8_t* bytes, std::size_t size);
constexpr std::uint32_t crc32_end(std::uint32_t so_far) {
    return ~so_far;
}

} // namespace mmioscope
