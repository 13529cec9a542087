// A complete table, described once for people (text.hpp) and for programs (csv.hpp, json.hpp).
#pragma once

#include <cstdint>
#include <functional>
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

/// A text for each column with a title, as text.hpp prints it: plain ASCII.
std::vector<std::string> shown(const Table& table, const Row& row);

} // namespace mmioscope::table
