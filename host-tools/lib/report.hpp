// What is said at the end of a trace: the table of devices, other records, and the verdict
// (verdict.hpp).
#pragma once

#include "abi/container.hpp"
#include "lib/report_context.hpp"
#include "lib/summary.hpp"
#include "lib/verdict.hpp"
#include "table/table.hpp"

#include <span>
#include <string>

namespace mmioscope::trace {

/// For people: a row for each device, and one for all together.
table::Table device_table(const Summary& summary, const ReportContext& context);

/// How many records there are of other types, and what the hypervisor counted; lines.
std::string other_counts(const Summary& summary, std::span<const abi::Statistics> statistics);

/// A line about events that were not printed while they were recorded; empty if all were.
std::string not_printed_note(std::uint64_t events);

/// How a recording ended, in words.
std::string_view ending_text(abi::Ending ending);

} // namespace mmioscope::trace
