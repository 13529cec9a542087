// Numbers as descriptions write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::registers {

/// All of `text` as a decimal or, behind "0x", a hexadecimal number; nothing if it is none.
std::optional<std::uint64_t> number(std::string_view text);

} // namespace mmioscope::registers
