// What a run prints, and what it says when it is over.
#pragma once

#include "lib/error.hpp"
#include "run/plan.hpp"
#include "run/run_files.hpp"
#include "run/trace_source.hpp"
#include "run/watch.hpp"

#include <cstdint>

namespace mmioscope::run {

/// Whether the trace is printed while it is recorded.
bool prints(const Options& options);

/// Whether a line of progress has a place: not where the trace or the guest's console scrolls by.
bool shows_progress(const Options& options);

/// The run ended before the hypervisor was ready: says why, with the ends of the logs.
Status report_not_started(const Stop& stop, const RunFiles& files);

/// Table, console's end and verdict, on standard output. The hypervisor's own report of why
/// it stopped goes to standard error.
Status report_end(const Plan& plan, const Stop& stop, const TraceResult& result,
                  const RunFiles& files, std::uint64_t not_printed);

} // namespace mmioscope::run
