// Parses sizes, addresses and durations as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope {

/// All of `text` as a decimal or 0x number; nothing if it is neither or does not fit 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

/// A number, optionally followed by K, M or G (1024, 1024^2, 1024^3).
std::optional<std::uint64_t> parse_size(std::string_view text);

/// "1.5", "1.5s", "20ms", "3us", "7ns", "2m", "1h" in nanoseconds; nothing for other texts.
std::optional<std::uint64_t> parse_duration(std::string_view text);

} // namespace mmioscope
