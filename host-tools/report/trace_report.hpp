// What the page says of one trace.
#pragma once

#include "analysis/count.hpp"
#include "analysis/phases.hpp"
#include "analysis/poll_table.hpp"
#include "analysis/register_classes.hpp"
#include "analysis/sharing.hpp"
#include "analysis/time_spent.hpp"
#include "reading/drive.hpp"
#include "reading/tally.hpp"
#include "reading/trace.hpp"
#include "report/script.hpp"
#include "report/timeline.hpp"
#include "report/values.hpp"
#include "system/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace mmioscope::report {

/// The events that were read.
struct TraceExtent {
    std::uint64_t begin = UINT64_MAX; ///< ns; without events larger than `end`
    std::uint64_t end = 0;            ///< ns
    std::uint64_t last = 0;           ///< the largest number

    std::uint64_t length() const { return begin > end ? 0 : end - begin; } ///< ns
};

/// Memory: what its members keep, at most 64 MiB.
class TraceReport {
public:
    /// Opens the trace. `options.path` must be a file, since it is read twice.
    explicit TraceReport(const reading::TraceOptions& options);

    const trace::TraceReader& reader() const { return trace_.reader(); }
    Status status() const { return tally_.status(trace_.reader()); }
    std::string verdict() const { return tally_.verdict(trace_.reader()); }

    /// Reads the trace, also for `other`, which may be null. Call it once, first.
    void read(reading::DriveOptions how, reading::Consumer* other);

    /// Writes a JSON object: what was found, and excerpts around the events of `chosen`, too, for
    /// which it reads the trace again. Call it once.
    void write(Script& to, std::vector<std::uint64_t> chosen, reading::DriveOptions how);

private:
    void put_tables(Script& to, std::vector<std::uint64_t>& events);

    reading::TraceOptions options_;
    reading::Trace trace_;
    reading::Tally tally_;
    Timeline timeline_;
    Values values_;
    analysis::TimeSpent time_;
    analysis::PollTable polls_;
    analysis::Phases phases_{{}};
    analysis::Sharing sharing_;
    analysis::RegisterClasses registers_;
    analysis::Counts counts_;
    TraceExtent extent_;
};

} // namespace mmioscope::report
