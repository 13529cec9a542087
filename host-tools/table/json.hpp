// JSON: cells as members of objects, and tables with one object per line.
#pragma once

#include "table/table.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

namespace mmioscope::table {

/// Appends `cell` as a member of the object at the end of `to`; nothing if the cell is empty. Hex
/// is a string "0x..", because JSON readers treat numbers as doubles.
void append_json(fmt::memory_buffer& to, std::string_view key, const Cell& cell);

/// One object for each row of each of `tables`, with the known values of its columns for programs.
std::string jsonl(std::span<const Table> tables);
void jsonl(std::span<const Table> tables, const Write& write);

} // namespace mmioscope::table
