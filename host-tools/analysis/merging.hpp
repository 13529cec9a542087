// Consumers that merge some events into one, and pass the result on to another consumer.
#pragma once

#include "analysis/poll.hpp"
#include "reading/drive.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace mmioscope::analysis {

class Merger : public reading::Consumer {
public:
    explicit Merger(reading::Consumer& next) : next_(next) {}

    /// Passes on the events held back.
    virtual void release() = 0;

    void add_derived(const DerivedEvent& derived) override {
        release();
        next_.add_derived(derived);
    }
    void add_unended(const Event& marker) override { next_.add_unended(marker); }
    void forget() override {
        release();
        next_.forget();
    }
    void flush() override {
        release();
        next_.flush();
    }
    void finish() override {
        release();
        next_.finish();
    }
    bool enough() const override { return next_.enough(); }

protected:
    reading::Consumer& next_;
};

// Merges repeated events: accesses that are equal in all but time and duration. A driver that reads
// a status a thousand times becomes one event with a count.
//
// Equal accesses to a register (4 bytes) in one window of time form a run, unless another access to
// it lies between them. Accesses to other registers may: loops are nested, and interrupts come in
// between. Runs keep the order of their first records; windows do not overlap. A window ends early
// if it has too many runs, or where names become invalid (reading/naming.hpp).

class Collapse final : public Merger {
public:
    /// Passes each run to `next` once its window is over: unchanged if it is one event, otherwise
    /// as an event of type "repeat". `window` is in nanoseconds, like the events' times.
    Collapse(std::uint64_t window, reading::Consumer& next) : Merger(next), window_(window) {}

    /// A quarter of a second.
    static constexpr std::uint64_t usual_window = 250'000'000;
    static constexpr std::size_t most_runs = 64; ///< in a window

    void add(const Event& event) override;
    void release() override; ///< ends the window

private:
    /// Equal records in one window.
    struct Repeat {
        Event first; ///< settled
        abi::Record last;
        std::uint64_t last_number;
        std::uint64_t last_nanoseconds;
        std::uint64_t count;
    };

    Repeat* find(const Event& event);
    void pass(const Repeat& run);

    std::uint64_t window_;
    std::uint64_t start_ = 0; ///< time of the window's first event
    std::vector<Repeat> runs_;
};

// Merges each poll into one event, for print --fold.

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
