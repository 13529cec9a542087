// The CRC-32 of abi/container.hpp.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace mmioscope::trace {

/// CRC-32 (IEEE 802.3) of `bytes`.
inline std::uint32_t crc(std::span<const std::byte> bytes) {
    const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
    return static_cast<std::uint32_t>(::crc32_z(0, data, bytes.size()));
}

/// CRC of `value`'s bytes in front of `end`, a member's offset.
template <typename T>
std::uint32_t crc_before(const T& value, std::size_t end) {
    return crc(std::as_bytes(std::span(&value, 1)).first(end));
}

} // namespace mmioscope::trace
