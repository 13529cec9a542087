// Where the records begin or end by themselves: at the n-th access that looks like this.
//
// Armed and disarmed while no access is in flight; between the two each access that is traced asks,
// whichever CPU's it is. Accesses that are in flight together with the one that fires may be on
// either side of it.
#pragma once

#include "trace/filter.hpp"

#include <atomic>

namespace mmioscope {

class Trigger {
public:
    enum class Verdict : std::uint8_t {
        pass,  ///< as if there were no trigger
        hold,  ///< no record: not begun, or over
        first, ///< fires: the first record
        last,  ///< fires: the last one
    };

    /// What it looks for, with the next arm().
    Pattern pattern;

    /// Fires at the access that is number `count`, not 0, of those that match. `tag` is the
    /// request's (abi::control::change_tag).
    void arm(bool starts, std::uint32_t count, std::uint32_t tag) {
        left_.store(count, std::memory_order_relaxed);
        state_.store(starts ? State::before : State::running, std::memory_order_relaxed);
        tag_ = tag;
    }
    void disarm() { state_.store(State::none, std::memory_order_relaxed); }

    bool armed() const { return state() == State::before || state() == State::running; }
    bool active() const { return state() != State::none; }
    std::uint32_t tag() const { return tag_; }
    /// Nothing is recorded: not begun, or over.
    bool holds() const { return state() == State::before || state() == State::over; }

    /// About a traced access of the CPU that asks.
    Verdict see(const abi::Record& record) {
        const State now = state();
        if (now == State::none) return Verdict::pass;
        if (now == State::over) return Verdict::hold;
        const bool starts = now == State::before;
        const Verdict usual = starts ? Verdict::hold : Verdict::pass;
        if (!pattern.matches(record)) return usual;
        const std::uint32_t left = left_.fetch_sub(1, std::memory_order_relaxed);
        if (left > 1 && left <= most) return usual;
        if (left != 1) return starts ? Verdict::pass : Verdict::hold; // another CPU has just fired
        state_.store(starts ? State::none : State::over, std::memory_order_relaxed);
        return starts ? Verdict::first : Verdict::last;
    }

    /// The largest count: below what a counter that went below 0 has.
    static constexpr std::uint32_t most = 0x7fff'ffff;

private:
    enum class State : std::uint32_t { none, before, running, over };

    State state() const { return state_.load(std::memory_order_relaxed); }

    std::atomic<State> state_{State::none};
    std::atomic<std::uint32_t> left_{0};
    std::uint32_t tag_{};
};

} // namespace mmioscope
