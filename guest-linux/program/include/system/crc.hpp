// The CRC-32 of abi/container.hpp, by the hypervisor's code: the guest's program has no zlib.
// Stands in for host-tools/system/crc.hpp.
#pragma once

#include "base/crc32.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace mmioscope {

/// Adds nothing up, and has no value: the guest's program does not read its file back, and its CPU
/// is the guest's.
struct RunningCrc {
    void add(std::span<const std::byte>) {}
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
