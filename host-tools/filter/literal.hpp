// Numbers and times as users write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::filter {

/// 12, 0x1f, 0b101, 64K, 1M, 1G; nothing if `text` is none of these or does not fit 64 bits.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// Nanoseconds from 1.5, 1.5s, 200ms, 10us or 3ns; without a unit, seconds. Truncates to whole
/// nanoseconds.
std::optional<std::uint64_t> parse_time(std::string_view text);

} // namespace mmioscope::filter
