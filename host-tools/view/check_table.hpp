// What is wrong with trace files, and the verdict of each: for people and for programs.
#pragma once

#include "file/trace_check.hpp"
#include "table/table.hpp"

#include <string>

namespace mmioscope::view {

/// A row for each problem of a file, and one for its verdict. For people each is a line with the
/// file's name in front; for programs those of problems have `file` and `problem`, the verdict's
/// all but a problem.
table::Table check_table();
void append(table::Table& to, const std::string& file, const trace::CheckResult& result);

} // namespace mmioscope::view
