// The CRC-32 of abi/container.hpp, by the hypervisor's code: the guest's program has no zlib.
// Stands in for host-tools/system/crc.hpp.
#pragma once

#include "start/crc32.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mmioscope {

/// The CRC-32 of bytes that come one after the other, to be compared with another one only.
struct RunningCrc {
    std::uint32_t value = crc32_start;

    void add(std::span<const std::byte> bytes) {
        value =
            crc32_more(value, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
};

} // namespace mmioscope

namespace mmioscope::trace {

/// CRC-32 (IEEE 802.3) of `bytes`.
inline std::uint32_t crc(std::span<const std::byte> bytes) {
    return crc32(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// CRC of `value`'s bytes in front of `end`, a member's offset.
template <typename T>
std::uint32_t crc_before(const T& value, std::size_t end) {
    return crc(std::as_bytes(std::span(&value, 1)).first(end));
}

} // namespace mmioscope::trace
