// A complete table, described once for people and for programs (CSV and JSON).
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mmioscope::table {

struct Hex {
    std::uint64_t value;
};

/// The content of one cell. Empty: unknown, or not applicable. A number is below 2^53 unless the
/// trace's times are not; larger ones must be Hex. Programs get no doubles, which are rounded, but
/// the columns that these were computed from.
using Cell =
    std::variant<std::monostate, bool, std::uint64_t, Hex, double, std::string_view, std::string>;

/// The text of a cell; empty: it holds none.
inline std::string_view text_in(const Cell& cell) {
    const auto* const view = std::get_if<std::string_view>(&cell);
    const auto* const text = std::get_if<std::string>(&cell);
    return view != nullptr ? *view : text != nullptr ? *text : std::string_view();
}

/// How a column looks to people.
enum class Look {
    words,   ///< left-aligned; cut in the middle if a line is too long
    device,  ///< likewise: a device's name, perhaps followed by a register
    number,  ///< right-aligned, never cut; the same for the following
    seconds, ///< ns as "1.000016", without parts of a microsecond
    micros,  ///< ns as "0.02"
    size,    ///< bytes as "4 KiB", if exact
};

struct Column {
    std::string_view name = {};  ///< for programs, part of the interface; empty: not for programs
    std::string_view title = {}; ///< for people; empty: not for people
    Look look = Look::words;
    std::size_t width = 0;          ///< least number of characters
    int digits = 0;                 ///< Hex: at least this many; double: after the point
    std::string_view unit = {};     ///< follows each number
    std::string_view nothing = "-"; ///< shown to people for an empty cell
};

/// How a table looks to people.
enum class Shape {
    headed, ///< one line for each row, under the titles
    bare,   ///< likewise without titles; lines are never cut
    facts,  ///< one line for each non-empty cell, after the column's title; never cut
};

using Row = std::vector<Cell>; ///< one cell for each column
using TakeRow = std::function<void(const Row&)>;

struct Table {
    std::vector<Column> columns;
    std::vector<Row> rows;
    Shape shape = Shape::headed;
    std::string closing = {}; ///< a line for people after the rows; empty: none
    /// What has no row for want of memory (add_left_out()): lines for people after the rows,
    /// warnings for users of programs.
    std::vector<std::string> left_out = {};
    /// Returns the rows after `rows` at each call, for a table too long for memory; null: there are
    /// none.
    std::function<void(const TakeRow&)> more = {};
};

/// Passes all rows.
inline void each_row(const Table& table, const TakeRow& take) {
    for (const Row& row : table.rows) {
        take(row);
    }
    if (table.more) {
        table.more(take);
    }
}

/// Receives a table as text, piece by piece.
using Write = std::function<void(std::string_view)>;

// The cells of a table as people see them, for what lays them out itself.

/// A text for each column with a title, as text() prints it: plain ASCII.
std::vector<std::string> shown(const Table& table, const Row& row);

// Comma-separated values (RFC 4180, but lines end with LF).

/// Appends `cell` as a field.
void append_csv(fmt::memory_buffer& to, const Cell& cell);

/// "0x" and as many digits as needed.
void append_hex(fmt::memory_buffer& to, Hex number);

/// The columns' names, then one line for each row of all `tables`, which must have the same
/// columns.
std::string csv(std::span<const Table> tables);
void csv(std::span<const Table> tables, const Write& write);

// JSON: cells as members of objects, and tables with one object per line.

/// Appends `cell` as a member of the object at the end of `to`; nothing if the cell is empty. Hex
/// is a string "0x..", because JSON readers treat numbers as doubles.
void append_json(fmt::memory_buffer& to, std::string_view key, const Cell& cell);

/// One object for each row of each of `tables`, with the known values of its columns for programs.
std::string jsonl(std::span<const Table> tables);
void jsonl(std::span<const Table> tables, const Write& write);

// Tables as text for people, in plain ASCII: '?' replaces everything else, so that no name from a
// guest or a file controls the terminal.

inline constexpr std::size_t unlimited = SIZE_MAX;

/// The width in characters of the terminal at `fd`, or COLUMNS from the environment if that
/// differs; `unlimited` if it is not a terminal or does not tell.
std::size_t width_of(int fd);

/// Lines without line ends. For a table with titles none is longer than `width`: cuts the widest
/// columns of words first. Numbers are shown completely or, from the last column on, not at all.
std::vector<std::string> lines(const Table& table, std::size_t width = unlimited);

/// Likewise, with line ends.
std::string text(const Table& table, std::size_t width = unlimited);

/// Likewise, line by line, without line ends.
void each_line(const Table& table, std::size_t width, const Write& write);

/// All `tables`, with an empty line before each that has titles, except the first.
std::string text(std::span<const Table> tables, std::size_t width = unlimited);
void text(std::span<const Table> tables, std::size_t width, const Write& write);

} // namespace mmioscope::table
