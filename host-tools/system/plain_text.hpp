// What text needs no escape (escape.hpp).
#pragma once

#include <algorithm>
#include <string_view>

namespace mmioscope {

constexpr bool is_plain(char c) {
    return c >= ' ' && c <= '~';
}

/// Whether it is a word of printable ASCII, without blanks.
constexpr bool is_plain_word(std::string_view word) {
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return is_plain(c) && c != ' '; });
}

} // namespace mmioscope
