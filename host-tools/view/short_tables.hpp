// Tables with short device names, where there is little room: on a terminal.
#pragma once

#include "file/trace_check.hpp"
#include "file/trace_reader.hpp"
#include "records/summary.hpp"
#include "records/verdict.hpp"
#include "table/table.hpp"
#include "tree/device_names.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace mmioscope::view {

/// `table` with the short names of devices in its columns of devices (table::Look::device).
table::Table shortened(table::Table table, const tree::ShortNames& names);

/// The same as text. Lines have at most `width` characters; with table::unlimited, they and the
/// names are whole.
std::string fitted_text(const table::Table& table, const tree::ShortNames& names,
                        std::size_t width);

/// For tables of a trace whose times begin at `start` (CNTPCT).
trace::ReportContext report_context(const trace::TraceReader& reader, std::uint64_t start);

/// The table of devices, as fitted_text() shows it, other records, and how the recording ended.
/// `own` includes the hypervisor's own accesses and counters.
std::string end_tables(const trace::Summary& summary, const trace::TraceReader& reader,
                       std::size_t width, bool own = true);

// The problems of trace files, and the verdict on each, for people and for programs.

/// One row for each problem of a file, and one for its verdict. For people each is a line after the
/// file's name. For programs, problem rows have `file` and `problem`, verdict rows everything but a
/// problem.
table::Table check_table();
void append(table::Table& to, const std::string& file, const trace::CheckResult& result);

} // namespace mmioscope::view
