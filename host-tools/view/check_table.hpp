// The problems of trace files, and the verdict on each, for people and for programs.
#pragma once

#include "file/trace_check.hpp"
#include "table/table.hpp"

#include <string>

namespace mmioscope::view {

/// One row for each problem of a file, and one for its verdict. For people each is a line after the
/// file's name. For programs, problem rows have `file` and `problem`, verdict rows everything but a
/// problem.
table::Table check_table();
void append(table::Table& to, const std::string& file, const trace::CheckResult& result);

} // namespace mmioscope::view
