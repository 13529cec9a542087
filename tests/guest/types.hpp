// The widths of registers.
#pragma once

#include <cstdint>

namespace guest {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

} // namespace guest
