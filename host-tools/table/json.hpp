// JSON: strings, cells as members of objects, and tables with one object per line.
#pragma once

#include "table/table.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

namespace mmioscope::table {

/// Appends `text` in quotes. What is no UTF-8 becomes U+FFFD, a character for each byte.
void append_json(fmt::memory_buffer& to, std::string_view text);

/// Appends `cell` as a member of the object that `to` ends in; nothing if it is nothing. Hex is a
/// string "0x..", since readers of JSON take numbers for doubles.
void append_json(fmt::memory_buffer& to, std::string_view key, const Cell& cell);

/// An object for each row of each of `tables`, with what its columns for programs know.
std::string jsonl(std::span<const Table> tables);
void jsonl(std::span<const Table> tables, const Write& write);

} // namespace mmioscope::table
