#include "table/csv.hpp"

#include "system/escape.hpp"

#include <charconv>
#include <iterator>

namespace mmioscope::table {

void append_hex(fmt::memory_buffer& to, Hex number) {
    char digits[2 + 16] = {'0', 'x'};
    const auto end = std::to_chars(digits + 2, std::end(digits), number.value, 16);
    to.append(digits, end.ptr);
}

namespace {

using Text = fmt::memory_buffer;

struct Append {
    Text& to;

    void operator()(std::monostate) const {}
    void operator()(bool yes) const { to.append(std::string_view(yes ? "true" : "false")); }
    void operator()(std::uint64_t number) const {
        const fmt::format_int digits(number);
        to.append(digits.data(), digits.data() + digits.size());
    }
    void operator()(Hex number) const { append_hex(to, number); }
    void operator()(double) const {}
    void operator()(std::string_view text) const { mmioscope::append_csv(to, text); }
    void operator()(const std::string& text) const { (*this)(std::string_view(text)); }
};

/// Appends the cell from `cell_of` for each column that is for programs.
template <typename CellOf>
void append_line(Text& to, const std::vector<Column>& columns, const CellOf& cell_of) {
    const char* between = "";
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (!columns[i].name.empty()) {
            to.append(std::string_view(between));
            append_csv(to, cell_of(i));
            between = ",";
        }
    }
    to.push_back('\n');
}

} // namespace

void append_csv(Text& to, const Cell& cell) {
    std::visit(Append{to}, cell);
}

std::string csv(std::span<const Table> tables) {
    std::string all;
    csv(tables, [&all](std::string_view piece) { all += piece; });
    return all;
}

void csv(std::span<const Table> tables, const Write& write) {
    Text text;
    const auto put = [&] {
        write({text.data(), text.size()});
        text.clear();
    };
    if (!tables.empty()) {
        const std::vector<Column>& columns = tables.front().columns;
        append_line(text, columns, [&](std::size_t i) { return Cell(columns[i].name); });
        put();
    }
    for (const Table& table : tables) {
        each_row(table, [&](const Row& row) {
            append_line(text, table.columns, [&](std::size_t i) -> const Cell& { return row[i]; });
            put();
        });
    }
}

} // namespace mmioscope::table
