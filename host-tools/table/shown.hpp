// The cells of a table as people see them, for what lays them out itself.
#pragma once

#include "table/table.hpp"

#include <string>
#include <vector>

namespace mmioscope::table {

/// A text for each column with a title, as text.hpp prints it: plain ASCII.
std::vector<std::string> shown(const Table& table, const Row& row);

} // namespace mmioscope::table
