// What text.hpp says of a trace, for programs.
#pragma once

#include "info/item.hpp"
#include "lib/report_context.hpp"
#include "lib/selections.hpp"
#include "lib/summary.hpp"
#include "lib/trace_reader.hpp"
#include "registers/coverage.hpp"
#include "registers/trace_devices.hpp"

namespace mmioscope::info {

/// "trace" once, "text" for each of its texts, "loss", "section". `reader` has read all.
Items head_items(const trace::TraceReader& reader, const trace::Summary& summary,
                 std::uint64_t nanoseconds);

/// A "device" for each region.
Items device_items(const trace::TraceReader& reader, const registers::TraceDevices& devices,
                   const trace::Selections& selections);

/// Of each of the first `regions` that was not traced all the time, or all the time not, and of
/// all together, named "all": a "selection" for what it was at first, and for each change.
Items selection_items(const trace::Selections& selections, const trace::ReportContext& context,
                      std::size_t regions);

/// A "coverage" for each device, and one without a name for all.
Items coverage_items(const registers::Coverage& coverage);

/// An "unnamed" for each place without a name, or without fields.
Items unnamed_items(const registers::Coverage& coverage);

} // namespace mmioscope::info
