#include "system/escape.hpp"

#include "mmioscope/error.hpp"

#include <array>
#include <iterator>

namespace mmioscope {

namespace {

unsigned byte(std::string_view text, std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u;
}

// Length in bytes of the UTF-8 character at the start of `text`; 0 if there is none (The Unicode
// Standard, table 3-7): no overlong forms, no surrogates, nothing beyond U+10FFFF.
unsigned utf8_size(std::string_view text) {
    const unsigned first = byte(text, 0);
    if (first < 0x80) {
        return text.empty() ? 0 : 1;
    }
    const unsigned size = first < 0xc2   ? 0
                          : first < 0xe0 ? 2
                          : first < 0xf0 ? 3
                          : first < 0xf5 ? 4
                                         : 0;
    for (unsigned i = 1; i < size; ++i) {
        const unsigned least = i > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
        const unsigned most = i > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
        if (byte(text, i) < least || byte(text, i) > most) {
            return 0;
        }
    }
    return size;
}

/// Whether the character of `size` bytes at the start of `text` is one of C0, DEL or C1.
bool is_control(std::string_view text, unsigned size) {
    const unsigned first = byte(text, 0);
    return size == 1 ? first < 0x20 || first == 0x7f
                     : size == 2 && first == 0xc2 && byte(text, 1) < 0xa0;
}

/// Passes each character of `text`, which is empty if it is a byte that is not UTF-8, and whether
/// it is a control character.
template <typename Take>
void each_character(std::string_view text, const Take& take) {
    while (!text.empty()) {
        const unsigned size = utf8_size(text);
        take(text.substr(0, size), size != 0 && is_control(text, size));
        text.remove_prefix(std::max(size, 1u));
    }
}

std::string without_controls(std::string_view text, std::string_view kept) {
    std::string plain;
    each_character(text, [&](std::string_view character, bool control) {
        const bool bad =
            character.empty() || (control && kept.find(character) == std::string_view::npos);
        plain += bad ? "?" : character;
    });
    return plain;
}

// Usual text needs no look at its characters.
bool is_usual(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return is_plain(c); });
}

/// Which bytes a format takes as they are, and no others before or after them.
using Bare = std::array<bool, 256>;
constexpr Bare bare_except(std::string_view special) {
    Bare bare{};
    for (unsigned byte = 0; byte < bare.size(); ++byte) {
        const char c = static_cast<char>(byte);
        bare[byte] = is_plain(c) && special.find(c) == std::string_view::npos;
    }
    return bare;
}
constexpr Bare bare_in_json = bare_except("\"\\");
constexpr Bare bare_in_csv = bare_except(",\"");

/// How many bytes at the start of `text` are bare: mostly all.
std::size_t bare_size(std::string_view text, const Bare& bare) {
    const auto end = std::ranges::find_if_not(
        text, [&bare](char c) { return bare[static_cast<unsigned char>(c)]; });
    return static_cast<std::size_t>(end - text.begin());
}

// A number, such as the offset "+0x018", computes nothing.
bool is_formula(std::string_view text) {
    const auto is_of_number = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    const char first = text.size() > 1 ? text.front() : ' ';
    const bool sign = first == '+' || first == '-';
    return first == '=' || first == '@' ||
           (sign && !std::ranges::all_of(text.substr(1), is_of_number));
}

} // namespace

std::string printable(std::string_view text) {
    std::string plain(text);
    std::ranges::replace_if(
        plain, [](char c) { return !is_plain(c); }, '?');
    return plain;
}

std::string for_terminal(std::string_view text) {
    return is_usual(text) ? std::string(text) : without_controls(text, "");
}

std::string lines_for_terminal(std::string_view text) {
    return without_controls(text, "\n\t");
}

void append_json(fmt::memory_buffer& to, std::string_view text) {
    to.push_back('"');
    const std::size_t bare = bare_size(text, bare_in_json);
    to.append(text.substr(0, bare));
    text.remove_prefix(bare);
    each_character(text, [&to](std::string_view character, bool control) {
        if (character.empty()) {
            to.append(std::string_view("\\ufffd"));
        } else if (control) { // U+0000 to U+009F: the last byte is its number
            fmt::format_to(std::back_inserter(to), "\\u{:04x}",
                           byte(character, character.size() - 1));
        } else {
            if (character == "\"" || character == "\\") {
                to.push_back('\\');
            }
            to.append(character);
        }
    });
    to.push_back('"');
}

void append_csv(fmt::memory_buffer& to, std::string_view text) {
    const bool bare = bare_size(text, bare_in_csv) == text.size();
    const std::string clean = bare ? "" : without_controls(text, "\n\r\t");
    text = bare ? text : clean;
    const bool quoted = !bare && text.find_first_of(",\"\r\n") != std::string_view::npos;
    const std::string_view quote = quoted ? "\"" : "";
    to.append(quote);
    if (is_formula(text)) {
        to.push_back('\'');
    }
    for (std::size_t quotes = 0; quoted && (quotes = text.find('"')) != std::string_view::npos;) {
        to.append(text.substr(0, quotes + 1));
        to.push_back('"');
        text.remove_prefix(quotes + 1);
    }
    to.append(text);
    to.append(quote);
}

std::string for_html(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        switch (c) {
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '&': out += "&amp;"; break;
        case '"': out += "&quot;"; break;
        case '\'': out += "&#39;"; break;
        default: out += c;
        }
    }
    return out;
}

Error::Error(Status status, const std::string& text)
    : std::runtime_error(for_terminal(text)), status_(status) {}

} // namespace mmioscope
