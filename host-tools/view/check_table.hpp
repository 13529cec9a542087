// What is wrong with trace files, and the verdict of each: for people and for programs.
#pragma once

#include "export/cell.hpp"
#include "lib/trace_check.hpp"

#include <string>

namespace mmioscope::view {

/// A line for each problem and one for the verdict, each with the file's name in front.
std::string check_text(const std::string& file, const trace::CheckResult& result);

/// The same as rows: those of problems have `file` and `problem`, the verdict's all but a problem.
exporting::Table check_table();
void append(exporting::Table& to, const std::string& file, const trace::CheckResult& result);

} // namespace mmioscope::view
