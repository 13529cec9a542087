// The output of `mmioscope info` as tables. `about` is the kind of thing that a row describes,
// `name` its name. For programs, the other columns are empty if a value is unknown or does not
// apply.
#pragma once

#include "file/trace_reader.hpp"
#include "records/selections.hpp"
#include "records/summary.hpp"
#include "records/verdict.hpp"
#include "registers/trace_devices.hpp"
#include "table/table.hpp"

#include <span>
#include <string>
#include <vector>

namespace mmioscope::view {

/// Who recorded what, how long, and how it ended: one "trace", a "text" for each text, "loss",
/// "section". `reader` must have read everything.
std::vector<table::Table> head_tables(const trace::TraceReader& reader,
                                      const trace::Summary& summary, std::uint64_t nanoseconds);

/// A "device" for each region: its name, address, interrupts and description.
table::Table device_table(const trace::TraceReader& reader, const registers::TraceDevices& devices,
                          const trace::Selections& selections);

/// For each of the first `regions` that was traced only some of the time, and for all together
/// ("all") if tracing was stopped or started: one "selection" for the initial state, and one for
/// each of the first changes and the last.
table::Table selection_table(const trace::Selections& selections,
                             const trace::ReportContext& context, std::size_t regions);

/// How many of the accessed registers have names: a "coverage" for each device, and one without a
/// name for all.
table::Table coverage_table(const registers::Coverage& coverage);

/// An "unnamed" for each place without a name or without fields.
table::Table unnamed_table(const registers::Coverage& coverage);

/// CSV with one line for each property of a row: about, name, property, value, under these titles.
/// Values are plain text; '?' replaces other characters.
std::string property_csv(std::span<const table::Table> tables);

} // namespace mmioscope::view
