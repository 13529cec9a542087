// Prints the guest's kernel log between a trace's events, each line at its time.
#pragma once

#include "analysis/dmesg.hpp"
#include "reading/trace.hpp"
#include "view/printer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::view {

class DmesgLines {
public:
    /// Reads `path`; empty: what the trace itself has of the guest's console. `offset`: printk's
    /// time 0 in the trace's time; if it is empty, it is found by reading the trace of `options`
    /// once, and told on standard error. Throws Error (bad_input) if there is no line with a time,
    /// or no offset is found.
    DmesgLines(const std::string& path, std::optional<std::int64_t> offset,
               const reading::TraceOptions& options);

    /// Prints what comes before `event`.
    void print_before(const Event& event, const trace::TraceReader& reader, Printer& printer);

    /// Prints the rest.
    void finish(const trace::TraceReader& reader, Printer& printer);

private:
    void print_up_to(std::int64_t nanoseconds, const trace::TraceReader& reader, Printer& printer);

    std::vector<analysis::DmesgLine> lines_; ///< with the trace's times, in their order
    std::size_t next_ = 0;
};

} // namespace mmioscope::view
