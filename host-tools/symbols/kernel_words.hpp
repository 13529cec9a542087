// Parses lines, words and numbers in texts of the kernel.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::symbols {

/// Removes the first line from `text` and returns it.
inline std::string_view next_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

/// Removes the first word from `line` and returns it; empty if there is none.
inline std::string_view next_word(std::string_view& line) {
    const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    const auto begin = std::find_if_not(line.begin(), line.end(), is_blank);
    const auto end = std::find_if(begin, line.end(), is_blank);
    line = {end, line.end()};
    return {begin, end};
}

inline bool is_blank(std::string_view line) {
    return next_word(line).empty();
}

/// All of `word` as a number.
inline std::optional<std::uint32_t> number(std::string_view word, int base) {
    std::uint32_t value = 0;
    const char* end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, value, base);
    return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

/// A hexadecimal address. One of 64 bits must be where x86-64's kernel has its code, for logs of
/// mmiotrace: the upper half, always the same, is left out.
inline std::optional<std::uint32_t> address(std::string_view word) {
    return number(word.substr(word.size() == 16 && word.starts_with("ffffffff") ? 8 : 0), 16);
}

} // namespace mmioscope::symbols
