// The result of a trace after reading: what was lost, and whether it is complete.
#pragma once

#include "file/trace_reader.hpp"
#include "reading/drive.hpp"
#include "records/backward.hpp"
#include "records/losses.hpp"
#include "records/summary.hpp"
#include "system/error.hpp"

#include <string>

namespace mmioscope::reading {

class Tally final : public Consumer {
public:
    /// `selects`: only some of the trace's events are added.
    explicit Tally(bool selects) : selects_(selects), seen_(1) {}

    void add(const Event& event) override { add_all(std::span(&event, 1)); }
    void add_all(std::span<const Event> events) override;

    const trace::Summary& summary() const { return summary_; }

    /// "policy: ...", unless nothing in the trace has one, and the verdict: one line each.
    std::string verdict(const trace::TraceReader& reader) const;

    /// As status_of(); failed, too, if records go back.
    Status status(const trace::TraceReader& reader) const;

    /// For a trace read only in part: fine if nothing in that part is damaged or shows losses.
    Status status_so_far(const trace::TraceReader& reader) const;

private:
    void add(const trace::Run& run);

    bool selects_;
    trace::Summary summary_;
    trace::LossCounter seen_; ///< losses visible in the records themselves
    trace::Backward backward_;
};

/// Whether the trace is complete as far as it was read, and neither its end nor its losses report
/// missing records. Call it after the last event.
bool is_whole(const trace::TraceReader& reader);

/// Likewise, if nothing else is wrong.
Status status_of(const trace::TraceReader& reader);

} // namespace mmioscope::reading
