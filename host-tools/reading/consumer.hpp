// Consumers of a trace's events: printed lines, counts, an export.
#pragma once

#include "mmioscope/event.hpp"

#include <span>

namespace mmioscope::reading {

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

} // namespace mmioscope::reading
