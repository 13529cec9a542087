#include "table/json.hpp"

#include "table/csv.hpp"

#include <iterator>

namespace mmioscope::table {

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

void append_key(fmt::memory_buffer& to, std::string_view key) {
    if (to.data()[to.size() - 1] != '{') { // not the first of its object
        to.push_back(',');
    }
    to.push_back('"');
    to.append(key);
    to.append(std::string_view("\":"));
}

struct AppendMember {
    fmt::memory_buffer& to;
    std::string_view key;

    void operator()(std::monostate) const {}
    void operator()(bool yes) const {
        append_key(to, key);
        to.append(std::string_view(yes ? "true" : "false"));
    }
    void operator()(std::uint64_t number) const {
        append_key(to, key);
        const fmt::format_int digits(number);
        to.append(digits.data(), digits.data() + digits.size());
    }
    void operator()(Hex number) const {
        append_key(to, key);
        to.push_back('"');
        append_hex(to, number);
        to.push_back('"');
    }
    void operator()(double) const {}
    void operator()(std::string_view text) const {
        append_key(to, key);
        append_json(to, text);
    }
    void operator()(const std::string& text) const { (*this)(std::string_view(text)); }
};

} // namespace

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

void append_json(fmt::memory_buffer& to, std::string_view key, const Cell& cell) {
    std::visit(AppendMember{to, key}, cell);
}

std::string jsonl(std::span<const Table> tables) {
    std::string all;
    jsonl(tables, [&all](std::string_view piece) { all += piece; });
    return all;
}

void jsonl(std::span<const Table> tables, const Write& write) {
    fmt::memory_buffer text;
    for (const Table& table : tables) {
        each_row(table, [&](const Row& row) {
            text.push_back('{');
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (!table.columns[i].name.empty()) {
                    append_json(text, table.columns[i].name, row[i]);
                }
            }
            text.append(std::string_view("}\n"));
            write({text.data(), text.size()});
            text.clear();
        });
    }
}

} // namespace mmioscope::table
