// What a run prints at the end of a boot, and at its own end.
#pragma once

#include "run/plan.hpp"
#include "run/run_files.hpp"
#include "run/trace_source.hpp"
#include "run/watch.hpp"
#include "system/error.hpp"

#include <cstdint>

namespace mmioscope::run {

/// Whether the trace is printed while it is recorded.
bool prints(const Options& options);

/// Whether a line of progress has a place: not where the trace or the guest's console scrolls by.
bool shows_progress(const Options& options);

class Closing {
public:
    /// Both stay the caller's.
    Closing(const Plan& plan, const RunFiles& files) : plan_(plan), files_(files) {}

    /// A boot came to its end, and another one follows: its tables and its verdict.
    void boot_over(const TraceResult& result);

    /// The run ended before the hypervisor was ready: says why, with the ends of the logs.
    Status not_started(const Stop& stop);

    /// Table, console's end and verdict, on standard output. The hypervisor's own report of why
    /// it stopped goes to standard error.
    Status end(const Stop& stop, const TraceResult& result, std::uint64_t not_printed);

private:
    void print_tables(const TraceResult& result) const;
    void print_verdict(const TraceResult& result, const std::string& why);
    void print_total() const;

    const Plan& plan_;
    const RunFiles& files_;
    unsigned boots_ = 0;      ///< that are over
    unsigned incomplete_ = 0; ///< of them
};

} // namespace mmioscope::run
