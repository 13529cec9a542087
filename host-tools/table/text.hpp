// Tables as text for people, in plain ASCII: '?' replaces everything else, so that no name from a
// guest or a file controls the terminal.
#pragma once

#include "table/table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::table {

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
