// Parts of a trace, event by event: its beginning, its end, and what is around certain events.
#pragma once

#include "export/row_text.hpp"
#include "file/trace_reader.hpp"
#include "reading/drive.hpp"
#include "report/script.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mmioscope::report {

/// How much of a trace is in excerpts.
inline constexpr std::uint64_t events_at_ends = 300; ///< at each end
inline constexpr std::uint64_t events_around = 5;    ///< before and after each chosen one
inline constexpr std::size_t most_slowest = 100;     ///< of the accesses that took longest

/// From which event to which, by number, both included; apart and in ascending order.
using Spans = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
/// `last`: the number of the trace's last event.
Spans spans_of(std::span<const std::uint64_t> chosen, std::uint64_t last);

/// Writes the events of `spans` as a JSON array of [number, {...}], with the columns of JSONL.
class Excerpt final : public reading::Consumer {
public:
    Excerpt(Script& to, const trace::TraceReader& reader, Spans spans);

    void add(const Event& event) override;
    void forget() override { rows_.forget(); }
    bool enough() const override { return at_ == spans_.size(); }

private:
    Script& to_;
    Spans spans_;
    std::size_t at_ = 0; ///< the span to come, or that goes on
    bool first_ = true;
    exporting::RowText rows_;
};

} // namespace mmioscope::report
