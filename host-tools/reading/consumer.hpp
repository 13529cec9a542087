// Consumers of a trace's events: printed lines, counts, an export.
#pragma once

#include "mmioscope/event.hpp"

#include <span>

namespace mmioscope::reading {

class Consumer {
public:
    virtual ~Consumer() = default;

    /// The next event, in the order of time. The text of a marker is whole, and is that of the last
    /// of its records; that of the others is empty.
    virtual void add(const Event& event) = 0;

    /// The next several, at least one, as next_events() of the trace gives them.
    virtual void add_all(std::span<const Event> events) {
        for (const Event& event : events) {
            add(event);
        }
    }

    /// Several events as one, in the place of the first; the events themselves do not come.
    virtual void add_derived(const DerivedEvent& derived) { add(derived.with_text(derived.text)); }

    /// A marker whose text never ended, behind all events.
    virtual void add_unended(const Event& /*marker*/) {}

    /// What was kept of events' names means nothing from now on (Names).
    virtual void forget() {}

    /// Nothing comes for a while: what was held back for more may be shown.
    virtual void flush() {}

    /// There are no more.
    virtual void finish() {}

    /// True once nobody takes what is made here any more. Asked now and then.
    virtual bool enough() const { return false; }
};

} // namespace mmioscope::reading
