// How text that may contain anything, because it comes from guests, files and wires, is written in
// each format. No other file does that.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace mmioscope {

/// For a name: '?' in place of each byte that is not printable ASCII.
std::string printable(std::string_view text);

/// For a terminal: '?' in place of each control character (C0, DEL, C1) and each byte that is not
/// UTF-8. Other letters, as in file names, stay.
std::string for_terminal(std::string_view text);

/// Likewise for several lines: their ends stay, and tabs.
std::string lines_for_terminal(std::string_view text);

/// A JSON string (RFC 8259) with its quotes; control characters are escaped, C1 and DEL, too. A
/// byte that is not UTF-8 becomes U+FFFD.
void append_json(fmt::memory_buffer& to, std::string_view text);

/// A CSV cell (RFC 4180), in quotes if it must be, as for_terminal() has it, but with its line ends
/// and tabs. One that a spreadsheet would take for a formula, because it begins with = + - or @,
/// gets a ' in front; a number with a sign, and such a character alone, stay.
void append_csv(fmt::memory_buffer& to, std::string_view text);

/// Text of HTML, or the value of an attribute in quotes, of printable().
std::string for_html(std::string_view text);

// What text needs no escape (escape.hpp).

constexpr bool is_plain(char c) {
    return c >= ' ' && c <= '~';
}

/// Whether it is a word of printable ASCII, without blanks.
constexpr bool is_plain_word(std::string_view word) {
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return is_plain(c) && c != ' '; });
}

} // namespace mmioscope
