// The CRC-32 of abi/container.hpp and abi/description.hpp.
#pragma once

#include "abi/description.hpp"

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace mmioscope {

/// CRC-32 (IEEE 802.3) of `bytes`, or of them following others with the CRC `before`.
inline std::uint32_t crc(std::span<const std::byte> bytes, std::uint32_t before = 0) {
    return bytes.empty() ? before : ::libdeflate_crc32(before, bytes.data(), bytes.size());
}

/// The CRC-32 of bytes that come one after the other.
struct RunningCrc {
    std::uint32_t value = 0;

    void add(std::span<const std::byte> bytes) { value = crc(bytes, value); }
};

/// CRC of the bytes of `value` before `end`, a member's offset.
template <typename T>
std::uint32_t crc_before(const T& value, std::size_t end) {
    return crc(std::as_bytes(std::span(&value, 1)).first(end));
}

/// The `description_crc` of an intact area. `regions` has as many as `header` says.
inline std::uint32_t description_crc(const abi::AreaHeader& header,
                                     const abi::RegionEntry* regions) {
    return abi::description_crc(
        header, regions, [](const void* bytes, std::size_t size, std::uint32_t before) {
            return crc({static_cast<const std::byte*>(bytes), size}, before);
        });
}

} // namespace mmioscope
