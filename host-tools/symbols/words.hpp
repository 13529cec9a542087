// Lines, words and numbers of the texts that the kernel writes.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mmioscope::symbols {

/// The first line of `text`, which is taken away.
inline std::string_view next_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

/// The first word of `line`, which is taken away; empty if there is none.
inline std::string_view next_word(std::string_view& line) {
    constexpr std::string_view blanks = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(blanks));
    line.remove_prefix(word.size());
    return word;
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

} // namespace mmioscope::symbols
