// What stands in one place of a table that programs read.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mmioscope::exporting {

struct Hex {
    std::uint64_t value;
};

/// Nothing: not known, or without meaning here. A number is below 2^53 unless the trace's times are
/// not; what may be larger is Hex.
using Cell = std::variant<std::monostate, bool, std::uint64_t, Hex, std::string_view, std::string>;

/// Appends `cell` as a field of RFC 4180.
void append_csv(fmt::memory_buffer& to, const Cell& cell);

/// Appends `cell` as a member of the object that `to` ends in; nothing if it is nothing. Hex is a
/// string "0x..", since readers of JSON take numbers for doubles.
void append_json(fmt::memory_buffer& to, std::string_view key, const Cell& cell);

/// A table that is found out as a whole.
struct Table {
    std::vector<std::string_view> columns;
    std::vector<std::vector<Cell>> rows; ///< each as long as `columns`
};

/// A line each, the columns' names in front.
std::string csv_text(const Table& table);
/// An object a line.
std::string jsonl_text(const Table& table);

} // namespace mmioscope::exporting
