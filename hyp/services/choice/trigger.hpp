// A trigger: records begin, or end, by themselves at the n-th access that matches a pattern.
//
// It is armed and disarmed while no access is in flight. In between, each traced access of every
// CPU checks it, and holds the trigger's lock from before the access until its record is published
// (trace/region_lock.hpp). So the count after the access needs only plain stores. An atomic
// decrement would clear the monitor that a load-exclusive of the guest has just set, and the
// guest's store-exclusive would fail until the trigger has fired (machine/own_exclusives.hpp).
// Accesses that cannot match, and that are in flight at the same time as the one that fires, may
// come before or after it.
#pragma once

#include "choice/filter.hpp"
#include "port/shared.hpp"
#include "trace/chooser.hpp"

namespace mmioscope {

class Trigger {
public:
    using Verdict = Chooser::Verdict;

    /// What to match; set before arm().
    Pattern pattern;

    /// Fires at the `count`-th access that matches: 1 to abi::control::most_counted. `tag` is that
    /// of the request (abi::control::change_tag).
    void arm(bool starts, std::uint32_t count, std::uint32_t tag) {
        port::store_shared(left_, count);
        port::store_shared(state_, starts ? State::before : State::running);
        tag_ = tag;
    }
    void disarm() { port::store_shared(state_, State::none); }

    bool armed() const { return state() == State::before || state() == State::running; }
    bool active() const { return state() != State::none; }
    std::uint32_t tag() const { return tag_; }
    /// Whether nothing is recorded: not begun, or over.
    bool holds() const { return state() == State::before || state() == State::over; }

    /// What the trigger says about a traced access of this CPU. The caller holds the trigger's lock
    /// if the access may match.
    Verdict see(const abi::Record& record) {
        const State now = state();
        if (now == State::none) return Verdict::pass;
        if (now == State::over) return Verdict::hold;
        const bool starts = now == State::before;
        const Verdict usual = starts ? Verdict::hold : Verdict::pass;
        if (!pattern.matches(record)) return usual;
        const std::uint32_t left = port::load_shared(left_) - 1;
        port::store_shared(left_, left);
        if (left != 0) return usual;
        port::store_shared(state_, starts ? State::none : State::over);
        return starts ? Verdict::first : Verdict::last;
    }

    /// As at the last access that matches. The caller holds all locks. False: it was not armed.
    bool fire() {
        const bool fires = armed();
        if (fires) port::store_shared(state_, holds() ? State::none : State::over);
        return fires;
    }

private:
    enum class State : std::uint32_t { none, before, running, over };

    State state() const { return port::load_shared(state_); }

    State state_{State::none};
    std::uint32_t left_{};
    std::uint32_t tag_{};
};

} // namespace mmioscope
