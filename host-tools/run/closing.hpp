// The output of a run at the end of each boot, and at its own end.
#pragma once

#include "run/plan.hpp"
#include "run/run_files.hpp"
#include "run/trace_source.hpp"
#include "run/watch.hpp"
#include "system/error.hpp"

#include <cstdint>

namespace mmioscope::run {

/// Whether to print the trace during the recording.
bool prints(const Options& options);

/// Whether to show a progress line: not if the trace or the guest's console is on the terminal.
bool shows_progress(const Options& options);

class Closing {
public:
    /// The caller owns both.
    Closing(const Plan& plan, const RunFiles& files) : plan_(plan), files_(files) {}

    /// A boot has ended and another one follows: prints its tables and verdict.
    void boot_over(const TraceResult& result);

    /// The run ended before the hypervisor was ready: prints the reason, with the ends of the logs.
    Status not_started(const RunEnd& stop);

    /// Prints the table, the end of the console and the verdict on standard output. The
    /// hypervisor's own report on why it stopped goes to standard error.
    Status end(const RunEnd& stop, const TraceResult& result, std::uint64_t not_printed);

private:
    void print_tables(const TraceResult& result) const;
    void print_verdict(const TraceResult& result, const std::string& why, abi::Ending ending);
    void print_total() const;

    const Plan& plan_;
    const RunFiles& files_;
    unsigned boots_ = 0;      ///< number that have ended
    unsigned incomplete_ = 0; ///< number of those incomplete
};

} // namespace mmioscope::run
