// JSON (RFC 8259) for the page, appended piece by piece.
#pragma once

#include "system/escape.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

namespace mmioscope::page {

using Text = fmt::memory_buffer;

template <typename... Args>
void print(Text& to, fmt::format_string<Args...> form, Args&&... args) {
    fmt::format_to(std::back_inserter(to), form, std::forward<Args>(args)...);
}

/// JavaScript's numbers are exact below 2^53: a larger one is a string, "0x...".
inline void append_value(Text& to, std::uint64_t value) {
    value >> 53 == 0 ? print(to, "{}", value) : print(to, "\"{:#x}\"", value);
}

/// An array; `append` writes one element.
template <typename Range, typename Append>
void append_list(Text& to, Range&& range, const Append& append) {
    to.push_back('[');
    bool first = true;
    for (const auto& one : range) {
        print(to, "{}", std::exchange(first, false) ? "" : ",");
        append(one);
    }
    to.push_back(']');
}

/// The next member of an object, an array.
template <typename Range, typename Append>
void append_list(Text& to, std::string_view name, Range&& range, const Append& append) {
    print(to, ",\n\"{}\":", name);
    append_list(to, range, append);
}

} // namespace mmioscope::page
