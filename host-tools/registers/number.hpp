// Numbers as written in descriptions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::registers {

/// All of `text` as a decimal number, or hexadecimal after "0x"; nothing if it is neither.
std::optional<std::uint64_t> number(std::string_view text);

} // namespace mmioscope::registers
