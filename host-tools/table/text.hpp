// Tables as text for people, plain ASCII: what is none in a cell is a '?', so that no name of a
// guest's or a file's steers the terminal.
#pragma once

#include "table/table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mmioscope::table {

inline constexpr std::size_t unlimited = SIZE_MAX;

/// The characters of a line of the terminal at `fd`, or COLUMNS of the environment where that says
/// another number; `unlimited` if it is no terminal, or does not know.
std::size_t width_of(int fd);

/// Lines without their ends; of a table with a heading none has more than `width` characters. Where
/// there is no room, the widest columns of words are cut first; numbers are shown whole or, from
/// the last column on, not at all.
std::vector<std::string> lines(const Table& table, std::size_t width = unlimited);

/// The same with line ends.
std::string text(const Table& table, std::size_t width = unlimited);

/// The same line by line, without their ends.
void each_line(const Table& table, std::size_t width, const Write& write);

/// All `tables`, with an empty line in front of each that has a heading, but the first.
std::string text(std::span<const Table> tables, std::size_t width = unlimited);
void text(std::span<const Table> tables, std::size_t width, const Write& write);

} // namespace mmioscope::table
