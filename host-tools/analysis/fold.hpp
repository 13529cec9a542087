// Merges each poll into one event, for print --fold.
#pragma once

#include "analysis/merger.hpp"
#include "analysis/poll_finder.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace mmioscope::analysis {

class Fold final : public Merger {
public:
    /// Passes the events on to `next`, and for the accesses of each poll one event of type "poll"
    /// or "handshake", where the polled register was read first. It has the fields `period`,
    /// `reads` and `ended`, and `bits` and `value` if it is known what was awaited.
    explicit Fold(reading::Consumer& next) : Merger(next) {}

    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void release() override;

private:
    struct Held {
        Event event;                             ///< settled
        std::optional<Thread> thread;            ///< it may be part of a loop in this one
        bool folded = false;                     ///< it is part of a poll
        std::unique_ptr<DerivedEvent> poll = {}; ///< which stands here
    };

    /// A poll among more events than this, of all threads, is several.
    static constexpr std::size_t most_held = 8192;

    void fold(Thread thread, const Poll& poll);
    void release_first();

    PollFinder finder_{[this](Thread thread, const Poll& poll) { fold(thread, poll); }};
    std::deque<Held> held_; ///< in the order of the trace
};

} // namespace mmioscope::analysis
