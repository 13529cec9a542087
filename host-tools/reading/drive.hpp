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

/// What a reading stops at.
enum class Strict {
    no,
    events, ///< the first damaged part, and the first record that tells of a loss
    whole,  ///< these, and what is wrong with the end
};

/// How losses come to the consumers.
enum class Losses {
    records, ///< as the gap records that the trace has
    all,     ///< as an event of type `gap` wherever numbers show that records are missing, and what
             ///< the recorder knows to be missing before the first and behind the last
};

struct DriveOptions {
    Strict strict = Strict::no;
    Losses losses = Losses::records;
    /// "N events read" on a terminal, if this is "read"; null: nothing is said.
    const char* progress = nullptr;
    std::uint64_t limit = std::numeric_limits<std::uint64_t>::max(); ///< events
    /// Asked every few thousand events: true ends the reading. Null: nobody asks.
    std::function<bool()> stop;
};

/// What ended a reading.
enum class Ended {
    trace,   ///< the trace's own end, or TraceOptions::wait
    limit,   ///< DriveOptions::limit
    stopped, ///< DriveOptions::stop
    enough,  ///< a consumer, which then is not told to finish; neither are the others
};

struct Driven {
    Ended ended = Ended::trace;
    std::uint64_t events = 0; ///< given to consumers; of losses only gap records
    std::uint64_t lost = 0;   ///< by Losses::all: records that are missing
};

/// Gives each event of `trace` to all `consumers`, in their order; null ones are left out. Throws
/// Error (failed) where `strict` stops it.
Driven drive(Trace& trace, std::initializer_list<Consumer*> consumers,
             const DriveOptions& options = {});
Driven drive(Trace& trace, std::vector<Consumer*> consumers, const DriveOptions& options = {});

} // namespace mmioscope::reading
