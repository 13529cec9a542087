// A trace, from its head to its end, into an exporter.
#pragma once

#include "export/exporter.hpp"
#include "export/loss_finder.hpp"
#include "lib/marker_text.hpp"
#include "reading/trace.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mmioscope::exporting {

class WholeTrace {
public:
    /// `selected`: only some of the trace's events come by (reading::selects()), so that a number
    /// that is not there tells nothing; losses are then told at the end.
    WholeTrace(reading::Trace& trace, bool selected) : trace_(trace), selected_(selected) {}

    /// `progress` is told how many events were exported, every few thousand.
    void write(Exporter& exporter, const std::function<void(std::uint64_t)>& progress);

    std::uint64_t events() const { return events_; }
    std::uint64_t lost() const { return lost_; }

private:
    void add(const Event& event, Exporter& exporter);
    void add_loss(const abi::Loss& loss, std::uint64_t nanoseconds, Exporter& exporter);
    void add_marker(Event event, Exporter& exporter);
    void add_rest(Exporter& exporter);

    reading::Trace& trace_;
    bool selected_;
    LossFinder losses_;
    trace::MarkerTexts texts_;
    std::uint64_t events_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t last_ns_ = 0;
    std::uint64_t last_time_ = 0;
};

} // namespace mmioscope::exporting
