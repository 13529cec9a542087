// A poll: a loop that reads a register until its value changes, or until the code gives up.
// docs/polls.md defines it.
#pragma once

#include "analysis/data_registers.hpp"
#include "analysis/loop.hpp"
#include "analysis/threads.hpp"
#include "records/ticks.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace mmioscope::analysis {

enum class PollKind : std::uint8_t {
    poll,
    handshake, ///< the loop also carries data, whenever the register permits it
};

enum class PollEnd : std::uint8_t {
    value,     ///< the register's value changed
    given_up,  ///< the code left the loop without that
    data_over, ///< the same for a handshake: there was no more data
    unended,   ///< the trace ended first, or a limit of memory cut the loop
};
inline constexpr std::size_t poll_ends = 4;

struct Poll {
    PollKind kind = PollKind::poll;
    PollEnd end = PollEnd::value;
    Event read;              ///< the last read of the polled register
    std::uint64_t reads = 0; ///< of that register
    std::uint64_t bits = 0;  ///< that changed at the end, and never before; 0: none
    unsigned period = 1;     ///< accesses
    std::uint64_t accesses = 0;
    Event first, last;

    std::uint64_t nanoseconds() const {
        return trace::elapsed(first.nanoseconds, last.nanoseconds);
    }
};

/// "poll", "handshake".
std::string_view kind_text(PollKind kind);
/// "value", "given up", "data over", "unended".
std::string_view end_text(PollEnd end);

/// The poll that `loop` was, after the guest left it. Nothing: it was no poll.
std::optional<Poll> poll_of(const Loop& loop, const DataRegisters& data);

// Finds the polls in a trace's events.

class PollFinder {
public:
    /// A poll of `thread` is over. The names of its events are valid.
    using Take = std::function<void(Thread thread, const Poll& poll)>;

    explicit PollFinder(Take take) : take_(std::move(take)) {}

    /// Adds the next event. Looks its names up only if it is part of a loop. Returns the thread
    /// whose loop it may be part of; nothing: it cannot be part of a loop.
    std::optional<Thread> add(const Event& event);

    /// The number of the first event of the current loop of `thread`. Nothing: it is in no loop.
    std::optional<std::uint64_t> begun(Thread thread) const;
    /// Ends the current loop of `thread` here; what follows is a new loop.
    void cut(Thread thread);
    /// What is known so far of registers that carry data.
    const DataRegisters& data() const { return data_; }
    /// Ends all loops: the trace is over, or names become invalid.
    void cut_all();

private:
    struct State {
        Repeats repeats;
        std::optional<Loop> loop;
        std::uint64_t time = 0; ///< of the newest access, ns
    };

    /// At this limit, forgets the threads that were idle longest.
    static constexpr std::size_t most_threads = 128;
    /// ns; accesses further apart do not belong to one loop: a clock of seconds that programs read
    /// now and then is no poll.
    static constexpr std::uint64_t longest_pause = 500'000'000;

    State& state_of(Thread thread, std::uint64_t now);
    void forget_oldest();
    void follow(Thread thread, State& state);
    void leave(Thread thread);
    /// Returns whether it was a poll.
    bool end(Thread thread, State& state, bool left = true) {
        return state.loop && end_loop(thread, state, left);
    }
    bool end_loop(Thread thread, State& state, bool left);

    Take take_;
    Threads threads_;
    DataRegisters data_;
    std::unordered_map<Thread, State> states_;
    std::pair<const Thread, State>* newest_ = nullptr; ///< of states_; null: not known
};

} // namespace mmioscope::analysis
