// CRC-32 of IEEE 802.3, zlib's and that of the trace file (abi/container.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope {

/// By words, with 4 KiB of tables: what is looked at where a CPU starts is hundreds of KiB.
std::uint32_t crc32(const std::uint8_t* bytes, std::size_t size);

/// The same in pieces: from crc32_start by crc32_more to crc32_end.
inline constexpr std::uint32_t crc32_start = ~0u;
std::uint32_t crc32_more(std::uint32_t so_far, const std::uint8_t* bytes, std::size_t size);
constexpr std::uint32_t crc32_end(std::uint32_t so_far) {
    return ~so_far;
}

/// What the CRC of some bytes is XORed with when `size` of them, `behind` from the end, change by
/// `difference` (little-endian, XOR): the CRC is linear.
std::uint32_t crc32_of_change(std::uint64_t difference, unsigned size, std::size_t behind);

} // namespace mmioscope
