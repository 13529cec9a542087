// The guest's kernel log at the times of a trace; prints it between the trace's events.
#pragma once

#include "analysis/dmesg.hpp"
#include "reading/drive.hpp"
#include "reading/trace.hpp"
#include "view/printer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::view {

class DmesgLines final : public reading::Consumer {
public:
    /// Reads `path`; empty: the guest's console in the trace itself. `offset`: printk's time 0 in
    /// the trace's time; if it is empty, it is found by reading the trace of `options` once, and
    /// printed on standard error. Throws Error (bad_input) if no line has a time, or no offset is
    /// found.
    DmesgLines(const std::string& path, std::optional<std::int64_t> offset,
               const reading::TraceOptions& options);

    /// Prints the lines to `printer` between the events of `reader`'s trace, which are added here
    /// and passed on. Both outlive this.
    void print_to(Printer& printer, const trace::TraceReader& reader);

    /// With the trace's times, in order; those that the trace's part has.
    const std::vector<analysis::DmesgLine>& lines() const { return lines_; }

    void add(const Event& event) override {
        print_up_to(static_cast<std::int64_t>(event.nanoseconds));
        printer_->add(event);
    }
    void add_unended(const Event& marker) override { printer_->add_unended(marker); }
    void forget() override { printer_->forget(); }
    void flush() override { printer_->flush(); }
    void finish() override;
    bool enough() const override { return printer_->enough(); }

private:
    void print_up_to(std::int64_t nanoseconds);

    std::vector<analysis::DmesgLine> lines_;
    std::size_t next_ = 0;
    Printer* printer_ = nullptr;
    const trace::TraceReader* reader_ = nullptr;
};

} // namespace mmioscope::view
