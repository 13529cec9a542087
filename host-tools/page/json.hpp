// JSON (RFC 8259) for the page.
#pragma once

#include "system/escape.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace mmioscope::page {

/// A string with its quotes.
inline std::string json(std::string_view text) {
    fmt::memory_buffer quoted;
    append_json(quoted, text);
    return fmt::to_string(quoted);
}

/// JavaScript's numbers are exact below 2^53: a larger one is a string, "0x...".
inline std::string json(std::uint64_t value) {
    return value >> 53 == 0 ? fmt::format("{}", value) : fmt::format("\"{:#x}\"", value);
}

/// An array; `text` gives the JSON of one element.
template <typename Range, typename Function>
std::string json_list(Range&& range, const Function& text) {
    std::string list;
    for (auto&& one : range) {
        list += list.empty() ? '[' : ',';
        list += text(one);
    }
    return list.empty() ? "[]" : list + ']';
}

/// An array of strings.
template <typename Range>
std::string json_list(Range&& range) {
    return json_list(range, [](const auto& one) { return json(one); });
}

} // namespace mmioscope::page
