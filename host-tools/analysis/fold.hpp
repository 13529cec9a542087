// Merges each poll into one event, for print --fold.
#pragma once

#include "analysis/merger.hpp"
#include "analysis/poll.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace mmioscope::analysis {

class Fold final : public Merger {
public:
    /// Passes the events on to `next`. One event of type "poll" or "handshake" replaces the
    /// accesses of each poll, at the first read of the polled register. It has the fields `period`,
    /// `reads` and `ended`, and `bits` and `value` if the awaited value is known.
    explicit Fold(reading::Consumer& next) : Merger(next) {}

    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void release() override;

private:
    struct Held {
        Event event;                             ///< settled
        std::optional<Thread> thread;            ///< whose loop it may be part of
        bool folded = false;                     ///< it is part of a poll
        std::unique_ptr<DerivedEvent> poll = {}; ///< not null: the poll that replaces it
    };

    /// Holds at most this many events of all threads; a longer poll becomes several.
    static constexpr std::size_t most_held = 8192;

    void fold(Thread thread, const Poll& poll);
    void release_first();

    PollFinder finder_{[this](Thread thread, const Poll& poll) { fold(thread, poll); }};
    std::deque<Held> held_; ///< in the order of the trace
};

} // namespace mmioscope::analysis
