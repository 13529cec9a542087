// Parses sizes, addresses and durations as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope {

/// A decimal or 0x number, all of `text`; nothing if it is none or needs more than 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// A number with an optional K, M or G behind it (1024, 1024^2, 1024^3).
std::optional<std::uint64_t> parse_size(std::string_view text);

/// "1.5", "1.5s", "20ms", "3us", "7ns", "2m", "1h" in nanoseconds; nothing if it is none of these.
std::optional<std::uint64_t> parse_duration(std::string_view text);

} // namespace mmioscope
