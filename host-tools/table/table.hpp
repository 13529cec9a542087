// A table that is found out as a whole: described once, for people (text.hpp) and for programs
// (csv.hpp, json.hpp).
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

/// What stands in one place. Nothing: not known, or without meaning here. A number is below 2^53
/// unless the trace's times are not; what may be larger is Hex. Programs are given no double: it is
/// rounded, and what it was made of is in columns of their own.
using Cell =
    std::variant<std::monostate, bool, std::uint64_t, Hex, double, std::string_view, std::string>;

/// How people are shown a column.
enum class Look {
    words,   ///< from the left; where a line has no room for them, their middle is left out
    number,  ///< from the right, never shortened, as those below
    seconds, ///< ns as "1.000016"; what is less than a microsecond is left out
    micros,  ///< ns as "0.02"
    size,    ///< bytes as "4 KiB", if that is exact
};

struct Column {
    std::string_view name = {};  ///< for programs, part of the interface; empty: not for them
    std::string_view title = {}; ///< for people; empty: not for them
    Look look = Look::words;
    std::size_t width = 0;          ///< characters at least
    int digits = 0;                 ///< of Hex at least; of a double, behind the point
    std::string_view unit = {};     ///< behind each number
    std::string_view nothing = "-"; ///< what people are shown for it
};

/// How people are shown a table.
enum class Shape {
    headed, ///< a line for each row, the titles in front
    bare,   ///< the same without titles; whole, however little room there is
    facts,  ///< a line for each place that has something, the column's title in front; whole, too
};

using Row = std::vector<Cell>; ///< as long as the table's columns
using TakeRow = std::function<void(const Row&)>;

struct Table {
    std::vector<Column> columns;
    std::vector<Row> rows;
    Shape shape = Shape::headed;
    std::string closing = {}; ///< a line for people behind the rows; empty: none
    /// Gives the rows behind `rows` whenever it is asked, for a table too long to be held; null:
    /// there are none.
    std::function<void(const TakeRow&)> more = {};
};

/// Gives all rows.
inline void each_row(const Table& table, const TakeRow& take) {
    for (const Row& row : table.rows) {
        take(row);
    }
    if (table.more) {
        table.more(take);
    }
}

/// Where a table goes as text, piece by piece.
using Write = std::function<void(std::string_view)>;

} // namespace mmioscope::table
