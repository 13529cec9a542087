// Merges each poll into one event, for print --fold.
#pragma once

#include "analysis/poll_finder.hpp"
#include "reading/consumer.hpp"

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace mmioscope::analysis {

class Fold final : public reading::Consumer {
public:
    /// Passes the events on to `next`, and for the accesses of each poll one event of type "poll"
    /// or "handshake", where the polled register was read first. It has the fields `period`,
    /// `reads` and `ended`, and `bits` and `value` if it is known what was awaited.
    explicit Fold(reading::Consumer& next) : next_(next) {}

    void add(const Event& event) override;
    void add_all(std::span<const Event> events) override;
    void add_derived(const DerivedEvent& derived) override;
    void add_unended(const Event& marker) override { next_.add_unended(marker); }
    void forget() override;
    void flush() override;
    void finish() override;
    bool enough() const override { return next_.enough(); }

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
    void release();
    void release_all();

    reading::Consumer& next_;
    PollFinder finder_{[this](Thread thread, const Poll& poll) { fold(thread, poll); }};
    std::deque<Held> held_; ///< in the order of the trace
};

} // namespace mmioscope::analysis
