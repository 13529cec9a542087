// The kinds of difference that verify finds.
#pragma once

#include "import/access_log.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace mmioscope::verify {

enum class Kind : std::uint8_t {
    missing, ///< in the log but not in the trace
    extra,   ///< in the trace but not in the log
    value,
    size,
    direction,
    address,
    cpu,
    pc,
    order,      ///< in both, at different places
    unreadable, ///< an unreadable line of the log that begins like an access
};
inline constexpr std::size_t kind_count = 10;

constexpr std::string_view kind_text(Kind kind) {
    constexpr std::array<std::string_view, kind_count> words = {
        "missing", "extra", "value", "size",  "direction",
        "address", "cpu",   "pc",    "order", "unreadable"};
    return words[static_cast<std::size_t>(kind)];
}

/// `line` and `event` are indices; `nowhere` for a side without one.
struct Difference {
    Kind kind;
    std::uint32_t line;
    std::uint32_t event;
};

} // namespace mmioscope::verify
