// Finds the polls among a trace's events.
#pragma once

#include "analysis/data_registers.hpp"
#include "analysis/loop.hpp"
#include "analysis/poll.hpp"
#include "analysis/repeats.hpp"
#include "analysis/threads.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

namespace mmioscope::analysis {

class PollFinder {
public:
    /// A poll of `thread` is over. The names of its events are valid.
    using Take = std::function<void(Thread thread, const Poll& poll)>;

    explicit PollFinder(Take take) : take_(std::move(take)) {}

    /// The next event. Its names are looked up only if it is part of a loop. Returns the thread in
    /// which it may be part of a loop; nothing: it can be part of none.
    std::optional<Thread> add(const Event& event);

    /// The number of the first event of the loop that `thread` is in. Nothing: it is in none.
    std::optional<std::uint64_t> begun(Thread thread) const;
    /// The loop of `thread` is over for us; what comes is another one.
    void cut(Thread thread);
    /// What is known so far of registers that carry data.
    const DataRegisters& data() const { return data_; }
    /// No loop goes on: the trace is over, or names become invalid.
    void cut_all();

private:
    struct State {
        Repeats repeats;
        std::optional<Loop> loop;
        std::uint64_t time = 0; ///< ns; of its newest access
    };

    /// Threads that did nothing for longest are forgotten if there are more.
    static constexpr std::size_t most_threads = 128;
    /// ns; accesses that are further apart are not of one loop.
    static constexpr std::uint64_t longest_pause = 1'000'000'000;

    State& state_of(Thread thread, std::uint64_t now);
    void forget_oldest();
    void follow(Thread thread, State& state);
    void leave(Thread thread);
    bool end(Thread thread, State& state, bool left = true);

    Take take_;
    Threads threads_;
    DataRegisters data_;
    std::unordered_map<Thread, State> states_;
};

} // namespace mmioscope::analysis
