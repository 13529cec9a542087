// Reads a trace from the first event to the last, and passes the events to consumers.
#pragma once

#include "reading/consumer.hpp"
#include "reading/trace.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <vector>

namespace mmioscope::reading {

/// What stops the reading.
enum class Strict {
    no,
    events, ///< the first damaged part, and the first record that shows a loss
    whole,  ///< these, and anything wrong with the end
};

/// How losses are passed to consumers.
enum class Losses {
    records, ///< as the gap records of the trace
    all,     ///< as an event of type `gap` wherever numbers show that records are missing, and for
             ///< the losses before the first and after the last record that the recorder knows of
};

struct DriveOptions {
    Strict strict = Strict::no;
    Losses losses = Losses::records;
    /// Shows "N events read" on a terminal if this is "read"; null: shows nothing.
    const char* progress = nullptr;
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max(); ///< events
    /// Called every few thousand events; true ends the reading. May be null.
    std::function<bool()> stop;
};

/// What ended the reading.
enum class Ended {
    trace,   ///< the trace's own end, or TraceOptions::wait
    limit,   ///< DriveOptions::limit
    stopped, ///< DriveOptions::stop
    enough,  ///< a consumer; then finish() is called for none
};

struct Driven {
    Ended ended = Ended::trace;
    std::uint64_t events = 0; ///< passed to consumers; includes gap records, but no other losses
    std::uint64_t lost = 0;   ///< missing records, as with Losses::all
};

/// Passes each event of `trace` to all `consumers`, in order; skips null ones. Throws Error
/// (failed) when `strict` stops the reading.
Driven drive(Trace& trace, std::initializer_list<Consumer*> consumers,
             const DriveOptions& options = {});
Driven drive(Trace& trace, std::vector<Consumer*> consumers, const DriveOptions& options = {});

} // namespace mmioscope::reading
