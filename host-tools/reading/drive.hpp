// Reads a trace from the first event to the last, and passes the events to consumers.
#pragma once

#include "mmioscope/event.hpp"
#include "reading/trace.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace mmioscope::reading {

// Consumers of a trace's events: printed lines, counts, an export.

class Consumer {
public:
    virtual ~Consumer() = default;

    /// The next event, in the order of time. The last record of a marker has its whole text; the
    /// others have none.
    virtual void add(const Event& event) = 0;

    /// The next events, at least one, as from Trace::next_events().
    virtual void add_all(std::span<const Event> events) {
        for (const Event& event : events) {
            add(event);
        }
    }

    /// One event instead of several, at the position of the first. The events themselves are not
    /// passed.
    virtual void add_derived(const DerivedEvent& derived) { add(derived.with_text(derived.text)); }

    /// A marker whose text never ended. Called after all events.
    virtual void add_unended(const Event& /*marker*/) {}

    /// Ids and names of earlier events become invalid (Names).
    virtual void forget() {}

    /// No event will come for a while: show what was held back.
    virtual void flush() {}

    /// There are no more events.
    virtual void finish() {}

    /// Returns true when no more output is needed. Called now and then.
    virtual bool enough() const { return false; }
};

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
    /// Takes events, and returns those to pass; losses are found before that. May be null.
    std::function<std::span<const Event>(std::span<const Event>)> narrow;
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
Driven drive(Trace& trace, std::vector<Consumer*> consumers, const DriveOptions& options = {});

} // namespace mmioscope::reading
