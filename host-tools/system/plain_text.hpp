// Makes names safe for terminals: they come from guests, files and wires, and may contain anything.
#pragma once

#include <algorithm>
#include <string>
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

/// `text` with '?' in place of each byte that is not printable ASCII.
inline std::string printable(std::string_view text) {
    std::string plain(text);
    std::replace_if(
        plain.begin(), plain.end(), [](char c) { return !is_plain(c); }, '?');
    return plain;
}

/// `text` with '?' in place of each control character: C0, DEL, and C1 in UTF-8. Other letters, as
/// in file names, stay.
inline std::string for_terminal(std::string_view text) {
    std::string plain(text);
    for (std::size_t i = 0; i < plain.size(); ++i) {
        const auto c = static_cast<unsigned char>(plain[i]);
        const auto next = static_cast<unsigned char>(i + 1 < plain.size() ? plain[i + 1] : 0);
        if (c < ' ' || c == 0x7f || (c == 0xc2 && next >= 0x80 && next <= 0x9f)) {
            plain.replace(i, c == 0xc2 ? 2 : 1, "?");
        }
    }
    return plain;
}

} // namespace mmioscope
