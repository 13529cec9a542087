// What is said of a trace once it is read: which devices, what was lost, whether it is whole.
#pragma once

#include "reading/consumer.hpp"
#include "reading/trace.hpp"
#include "records/losses.hpp"
#include "records/report.hpp"
#include "records/summary.hpp"
#include "system/error.hpp"

#include <string>

namespace mmioscope::view {

class Tally final : public reading::Consumer {
public:
    /// `selects`: not all of the trace's events are added.
    explicit Tally(bool selects) : selects_(selects), seen_(1) {}

    void add(const Event& event) override { add_all(std::span(&event, 1)); }
    void add_all(std::span<const Event> events) override;

    const trace::Summary& summary() const { return summary_; }

    /// The table of devices, of at most `width` characters, other records, and how the recording
    /// ended; with `own` what the hypervisor did itself and counted, too.
    std::string tables(const trace::TraceReader& reader, std::size_t width, bool own = true) const;

    /// "policy: ...", unless the trace is of nothing that has one, and the verdict: a line each.
    std::string verdict(const trace::TraceReader& reader) const;

    /// Of what was read, where that is not all: fine if nothing in it is damaged or tells of
    /// losses.
    Status status_so_far(const trace::TraceReader& reader) const;

private:
    bool selects_;
    trace::Summary summary_;
    trace::LossCounter seen_; ///< what can be seen in the records themselves
};

/// Whether the trace is whole, as far as it was read, and nothing was lost, neither by its end nor
/// by its losses; after its last event.
bool is_whole(const trace::TraceReader& reader);

/// That, and that nothing else speaks against it.
Status status_of(const trace::TraceReader& reader);

/// What tables need of a trace whose times begin at `start` (CNTPCT).
trace::ReportContext report_context(const trace::TraceReader& reader, std::uint64_t start);

} // namespace mmioscope::view
