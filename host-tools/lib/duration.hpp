// Lengths of time as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope {

/// "1.5", "1.5s", "20ms", "3us", "7ns", "2m", "1h" in nanoseconds; nothing if it is none of these.
std::optional<std::uint64_t> parse_duration(std::string_view text);

} // namespace mmioscope
