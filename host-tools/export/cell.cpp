#include "export/cell.hpp"

#include "export/json_text.hpp"

#include <iterator>

namespace mmioscope::exporting {

namespace {

using Text = fmt::memory_buffer;

std::string_view word(bool yes) {
    return yes ? "true" : "false";
}

struct AppendCsv {
    Text& to;

    void operator()(std::monostate) const {}
    void operator()(bool yes) const { to.append(word(yes)); }
    void operator()(std::uint64_t number) const {
        const fmt::format_int digits(number);
        to.append(digits.data(), digits.data() + digits.size());
    }
    void operator()(Hex number) const {
        fmt::format_to(std::back_inserter(to), "{:#x}", number.value);
    }
    void operator()(std::string_view text) const {
        if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
            to.append(text);
            return;
        }
        to.push_back('"');
        for (const char c : text) {
            to.push_back(c);
            if (c == '"') {
                to.push_back('"');
            }
        }
        to.push_back('"');
    }
    void operator()(const std::string& text) const { (*this)(std::string_view(text)); }
};

void append_key(Text& to, std::string_view key) {
    if (to.data()[to.size() - 1] != '{') { // not the first of its object
        to.push_back(',');
    }
    to.push_back('"');
    to.append(key);
    to.append(std::string_view("\":"));
}

struct AppendJson {
    Text& to;
    std::string_view key;

    void operator()(std::monostate) const {}
    void operator()(bool yes) const {
        append_key(to, key);
        to.append(word(yes));
    }
    void operator()(std::uint64_t number) const {
        append_key(to, key);
        const fmt::format_int digits(number);
        to.append(digits.data(), digits.data() + digits.size());
    }
    void operator()(Hex number) const {
        append_key(to, key);
        fmt::format_to(std::back_inserter(to), "\"{:#x}\"", number.value);
    }
    void operator()(std::string_view text) const {
        append_key(to, key);
        append_json(to, text);
    }
    void operator()(const std::string& text) const { (*this)(std::string_view(text)); }
};

} // namespace

void append_csv(Text& to, const Cell& cell) {
    std::visit(AppendCsv{to}, cell);
}

void append_json(Text& to, std::string_view key, const Cell& cell) {
    std::visit(AppendJson{to, key}, cell);
}

std::string csv_text(const Table& table) {
    Text text;
    const auto line = [&text](const auto& cells) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i > 0) {
                text.push_back(',');
            }
            append_csv(text, Cell(cells[i]));
        }
        text.push_back('\n');
    };
    line(table.columns);
    for (const std::vector<Cell>& row : table.rows) {
        line(row);
    }
    return fmt::to_string(text);
}

std::string jsonl_text(const Table& table) {
    Text text;
    for (const std::vector<Cell>& row : table.rows) {
        text.push_back('{');
        for (std::size_t i = 0; i < row.size(); ++i) {
            append_json(text, table.columns[i], row[i]);
        }
        text.append(std::string_view("}\n"));
    }
    return fmt::to_string(text);
}

} // namespace mmioscope::exporting
