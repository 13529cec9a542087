// Names come from guests, files and wires, and go to terminals: what is printed is plain text.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace mmioscope {

constexpr bool is_plain(char c) {
    return c >= ' ' && c <= '~';
}

/// A word of printable ASCII, without blanks.
constexpr bool is_plain_word(std::string_view word) {
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return is_plain(c) && c != ' '; });
}

/// `text` with a '?' in place of each byte that is no printable ASCII.
inline std::string printable(std::string_view text) {
    std::string plain(text);
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return !is_plain(c); }, '?');
    return plain;
}

} // namespace mmioscope
