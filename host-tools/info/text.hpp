// What `mmioscope info` says of a trace.
#pragma once

#include "lib/report_context.hpp"
#include "lib/selections.hpp"
#include "lib/summary.hpp"
#include "lib/trace_reader.hpp"
#include "registers/coverage.hpp"
#include "registers/trace_devices.hpp"

#include <string>

namespace mmioscope::info {

/// Who recorded what, how long, and how it ended: "key  value" lines. `reader` has read all.
std::string head_text(const trace::TraceReader& reader, const trace::Summary& summary,
                      std::uint64_t nanoseconds);

/// A line for each region: what it is called, where it is, its interrupts, what it is.
std::string devices_text(const trace::TraceReader& reader, const registers::TraceDevices& devices,
                         const trace::Selections& selections);

/// A line for each of the first `regions` that was not traced all the time, or all the time not:
/// what it was at first, and from when on what else. Empty if there is none.
std::string selections_text(const trace::Selections& selections,
                            const trace::ReportContext& context, std::size_t regions);

/// How many of the registers that were accessed have names, by device and in all.
std::string coverage_text(const registers::Coverage& coverage);

/// Those that have none, or no fields.
std::string unnamed_text(const registers::Coverage& coverage);

} // namespace mmioscope::info
