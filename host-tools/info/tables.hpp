// The output of `mmioscope info` as tables. `about` is the kind of thing that a row describes,
// `name` its name. For programs, the other columns are empty where a value is not known or does not
// apply.
#pragma once

#include "file/trace_reader.hpp"
#include "records/report.hpp"
#include "records/selections.hpp"
#include "records/summary.hpp"
#include "registers/coverage.hpp"
#include "registers/trace_devices.hpp"
#include "table/table.hpp"

#include <span>
#include <string>
#include <vector>

namespace mmioscope::info {

/// Who recorded what, how long, and how it ended: "trace" once, "text" for each of its texts,
/// "loss", "section". `reader` has read all.
std::vector<table::Table> head_tables(const trace::TraceReader& reader,
                                      const trace::Summary& summary, std::uint64_t nanoseconds);

/// A "device" for each region: what it is called, where it is, its interrupts, what it is.
table::Table device_table(const trace::TraceReader& reader, const registers::TraceDevices& devices,
                          const trace::Selections& selections);

/// Of each of the first `regions` that was not traced all the time, or all the time not, and of
/// all together, named "all": a "selection" for what it was at first, and for each change.
table::Table selection_table(const trace::Selections& selections,
                             const trace::ReportContext& context, std::size_t regions);

/// How many of the registers that were accessed have names: a "coverage" for each device, and one
/// without a name for all.
table::Table coverage_table(const registers::Coverage& coverage);

/// An "unnamed" for each place without a name, or without fields.
table::Table unnamed_table(const registers::Coverage& coverage);

/// A line for each property of a row: about, name, property, value; these titles in front. Values
/// are plain text, with a '?' for what is not.
std::string property_csv(std::span<const table::Table> tables);

} // namespace mmioscope::info
