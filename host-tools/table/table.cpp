#include "table/table.hpp"

#include "system/escape.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

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

namespace {

void append_key(fmt::memory_buffer& to, std::string_view key) {
    if (to.data()[to.size() - 1] != '{') { // not the first of its object
        to.push_back(',');
    }
    mmioscope::append_json(to, key);
    to.push_back(':');
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
        mmioscope::append_json(to, text);
    }
    void operator()(const std::string& text) const { (*this)(std::string_view(text)); }
};

} // namespace

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

namespace {

constexpr std::size_t narrowest = 12;   ///< columns of words are cut to at least this
constexpr std::size_t widest = 120;     ///< width that one word gives a column if nothing is cut
constexpr std::size_t title_width = 13; ///< for facts

std::string size_text(std::uint64_t size) {
    constexpr std::uint64_t kibi = 1024;
    if (size >= kibi * kibi && size % (kibi * kibi) == 0) {
        return fmt::format("{} MiB", size / kibi / kibi);
    }
    return size >= kibi && size % kibi == 0 ? fmt::format("{} KiB", size / kibi)
                                            : fmt::format("{} B", size);
}

std::string seconds_text(std::uint64_t nanoseconds) {
    return fmt::format("{}.{:06}", nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000 / 1000);
}

struct Shown {
    const Column& column;

    std::string operator()(std::monostate) const { return std::string(column.nothing); }
    std::string operator()(bool yes) const { return yes ? "yes" : "no"; }
    std::string operator()(std::uint64_t number) const {
        switch (column.look) {
        case Look::seconds: return seconds_text(number);
        case Look::micros: return fmt::format("{:.2f}", static_cast<double>(number) / 1e3);
        case Look::size: return size_text(number);
        default: return fmt::format("{}", number);
        }
    }
    std::string operator()(Hex number) const {
        return column.look == Look::size ? size_text(number.value)
                                         : fmt::format("{:#0{}x}", number.value, column.digits + 2);
    }
    std::string operator()(double number) const {
        return fmt::format("{:.{}f}", number, column.digits);
    }
    std::string operator()(std::string_view text) const { return printable(text); }
    std::string operator()(const std::string& text) const { return printable(text); }
};

bool is_words(Look look) {
    return look == Look::words || look == Look::device;
}

bool is_nothing(const Cell& cell) {
    return std::holds_alternative<std::monostate>(cell);
}

std::string shown(const Column& column, const Cell& cell) {
    std::string text = std::visit(Shown{column}, cell);
    return is_nothing(cell) ? text : text.append(column.unit);
}

} // namespace

std::vector<std::string> shown(const Table& table, const Row& cells) {
    std::vector<std::string> row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!table.columns[i].title.empty()) {
            row.push_back(shown(table.columns[i], cells[i]));
        }
    }
    return row;
}

namespace {

/// The cells' texts, before the available width is applied.
struct Grid {
    struct Column {
        bool words;
        std::size_t width;     ///< the table's choice, or as much as needed
        std::size_t needs = 0; ///< width of its longest text
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
    std::size_t most = widest; ///< limit for the width of a column

    void add(std::vector<std::string> row) {
        measure(row);
        rows.push_back(std::move(row));
    }
    // Longer texts stick out: padding all rows to them would take unlimited memory.
    void measure(const std::vector<std::string>& row) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::size_t size =
                columns[i].words ? std::min(row[i].size(), most) : row[i].size();
            columns[i].needs = std::max(columns[i].needs, size);
            columns[i].width = std::max(columns[i].width, size);
        }
    }
};

Grid grid_of_facts(const Table& table) {
    Grid grid{{{true, title_width}, {true, 0}}, {}};
    each_row(table, [&](const Row& row) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const Column& column = table.columns[i];
            if (!column.title.empty() && !is_nothing(row[i])) {
                grid.add({std::string(column.title), shown(column, row[i])});
            }
        }
    });
    return grid;
}

Grid grid_of(const Table& table, std::size_t most) {
    if (table.shape == Shape::facts) {
        return grid_of_facts(table);
    }
    Grid grid{{}, {}, most};
    std::vector<std::string> titles;
    for (const Column& column : table.columns) {
        if (!column.title.empty()) {
            grid.columns.push_back({is_words(column.look), column.width});
            titles.emplace_back(column.title);
        }
    }
    if (table.shape == Shape::headed) {
        grid.add(std::move(titles));
    }
    for (const Row& row : table.rows) {
        grid.add(shown(table, row));
    }
    if (table.more) { // a table too long for memory is made twice
        table.more([&](const Row& row) { grid.measure(shown(table, row)); });
    }
    return grid;
}

// A right-aligned number is separated from words before it anyway.
std::size_t gap(const Grid& grid, std::size_t column) {
    return column == 0 ? 0 : grid.columns[column].words ? 2 : 1;
}

// Keeps both ends, which tell names apart: registers after devices, units after nodes.
std::string cut(std::string text, std::size_t width) {
    if (text.size() <= width) {
        return text;
    }
    const std::size_t end = width < 8 ? 0 : (width - 2) / 2;
    const std::size_t dots = std::min<std::size_t>(2, width);
    return text.substr(0, width - dots - end).append(dots, '.') + text.substr(text.size() - end);
}

/// Narrows columns, or leaves out the last ones, to make lines at most `width` characters long.
void fit(Grid& grid, std::size_t width) {
    std::size_t all = 0;
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
        all += gap(grid, i) + grid.columns[i].width;
    }
    for (Grid::Column& column : grid.columns) { // this loses nothing
        const std::size_t spare = std::min(column.width - column.needs, all - std::min(all, width));
        column.width -= spare;
        all -= spare;
    }
    while (all > width) {
        Grid::Column* widest = nullptr;
        for (Grid::Column& column : grid.columns) {
            if (column.words && column.width > (widest ? widest->width : narrowest)) {
                widest = &column;
            }
        }
        if (widest == nullptr) {
            break;
        }
        --widest->width;
        --all;
    }
    std::size_t left = width;
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
        Grid::Column& column = grid.columns[i];
        const std::size_t before = gap(grid, i);
        const std::size_t least = before + (column.words ? 1 : column.width);
        if (left < least) {
            grid.columns.resize(i);
            break;
        }
        column.width = std::min(column.width, left - before);
        left -= before + column.width;
    }
}

void cut(const Grid& grid, std::vector<std::string>& row) {
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
        row[i] = cut(std::move(row[i]), grid.columns[i].width);
    }
}

std::string line(const Grid& grid, const std::vector<std::string>& row) {
    std::string text;
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
        const Grid::Column& column = grid.columns[i];
        text.append(gap(grid, i), ' ');
        if (column.words) {
            text += fmt::format("{:<{}}", row[i], column.width);
        } else {
            text += fmt::format("{:>{}}", row[i], column.width);
        }
    }
    text.resize(text.find_last_not_of(' ') + 1);
    return text;
}

} // namespace

std::size_t width_of(int fd) {
    if (::isatty(fd) == 0) {
        return unlimited;
    }
    winsize size{};
    std::size_t width = ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (const char* const columns = std::getenv("COLUMNS")) {
        std::from_chars(columns, columns + std::strlen(columns), width);
    }
    return width == 0 ? unlimited : width;
}

void each_line(const Table& table, std::size_t width, const Write& write) {
    const bool fitted = table.shape == Shape::headed && width != unlimited;
    Grid grid = grid_of(table, fitted ? width : widest);
    if (grid.columns.empty()) { // the table is for programs
        return;
    }
    if (fitted) {
        fit(grid, width);
    }
    const auto put = [&](std::vector<std::string> row) {
        if (fitted) {
            cut(grid, row);
        }
        write(line(grid, row));
    };
    for (std::vector<std::string>& row : grid.rows) {
        put(std::move(row));
    }
    if (table.more && table.shape != Shape::facts) {
        table.more([&](const Row& row) { put(shown(table, row)); });
    }
    if (!table.closing.empty()) {
        write(fitted ? cut(table.closing, width) : table.closing);
    }
    for (const std::string& line : table.left_out) {
        write(line);
    }
}

std::vector<std::string> lines(const Table& table, std::size_t width) {
    std::vector<std::string> all;
    each_line(table, width, [&all](std::string_view line) { all.emplace_back(line); });
    return all;
}

std::string text(const Table& table, std::size_t width) {
    return text(std::span(&table, 1), width);
}

std::string text(std::span<const Table> tables, std::size_t width) {
    std::string all;
    text(tables, width, [&all](std::string_view piece) { all += piece; });
    return all;
}

void text(std::span<const Table> tables, std::size_t width, const Write& write) {
    bool any = false;
    for (const Table& table : tables) {
        bool apart = table.shape == Shape::headed && any;
        each_line(table, width, [&](std::string_view line) {
            write(std::exchange(apart, false) ? "\n" : "");
            write(line);
            write("\n");
            any = true;
        });
    }
}

} // namespace mmioscope::table
