// Comma-separated values (RFC 4180, but lines end with LF).
#pragma once

#include "table/table.hpp"

#include <fmt/format.h>

#include <span>
#include <string>

namespace mmioscope::table {

/// Appends `cell` as a field.
void append_csv(fmt::memory_buffer& to, const Cell& cell);

/// "0x" and as many digits as needed.
void append_hex(fmt::memory_buffer& to, Hex number);

/// The columns' names, then one line for each row of all `tables`, which must have the same
/// columns.
std::string csv(std::span<const Table> tables);
void csv(std::span<const Table> tables, const Write& write);

} // namespace mmioscope::table
