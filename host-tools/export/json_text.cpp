#include "export/json_text.hpp"

#include <iterator>

namespace mmioscope::exporting {

namespace {

unsigned byte(std::string_view text, std::size_t index) {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u;
}

void append_plain(fmt::memory_buffer& to, char c) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
        to.push_back('\\');
        to.push_back(c);
    } else if (code < 0x20 || code == 0x7f) {
        fmt::format_to(std::back_inserter(to), "\\u{:04x}", unsigned{code});
    } else {
        to.push_back(c);
    }
}

} // namespace

// The Unicode Standard, table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF.
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

void append_json(fmt::memory_buffer& to, std::string_view text) {
    to.push_back('"');
    while (!text.empty()) {
        const unsigned size = utf8_size(text);
        if (size == 0) {
            to.append(std::string_view("\\ufffd"));
        } else if (size == 1) {
            append_plain(to, text.front());
        } else {
            to.append(text.substr(0, size));
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    to.push_back('"');
}

} // namespace mmioscope::exporting
