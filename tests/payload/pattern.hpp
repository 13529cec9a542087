// What stands behind a store to the palette, for the service that writes it (service.cpp) and the
// judge of the trace (judge.cpp): all of it follows from the stored value.
#pragma once

#include "abi/payload.hpp"

#include <cstdint>

namespace mmioscope::payload_test {

inline constexpr std::uint32_t palette = 0x1c1f'0200; ///< of vexpress-a15: 128 words
inline constexpr std::uint32_t palette_size = 0x200;

constexpr std::uint32_t mixed(std::uint32_t value) {
    value = (value ^ value >> 15) * 0x2c1b'3c6d;
    return value ^ value >> 13;
}
/// Bytes: none, a few, or up to the most.
constexpr std::uint32_t size_of(std::uint32_t value) {
    const std::uint32_t some = mixed(value);
    const std::uint32_t most = some % 16 == 0 ? abi::payload_limit : 100;
    return some % 4 == 1 ? 0 : 1 + (some >> 8) % most;
}
constexpr std::uint8_t byte_of(std::uint32_t value, std::uint32_t at) {
    return static_cast<std::uint8_t>(mixed(value + at / 16) >> at % 16);
}

} // namespace mmioscope::payload_test
