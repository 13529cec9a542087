// Where the records begin or end by themselves: at the n-th access that looks like this.
//
// Armed and disarmed while no access is in flight; between the two each access that is traced asks,
// whichever CPU's it is, and has the trigger's lock from before it is carried out until its record
// is there (trace/region_lock.hpp). Behind the access the count is so changed by plain stores: an
// atomic decrement would clear the monitor that a load-exclusive of the guest's has just set, and
// its store-exclusive fail until the trigger has fired (machine/own_exclusives.hpp). Accesses that
// it cannot count, and that are in flight together with the one that fires, may be on either side
// of it.
#pragma once

#include "port/shared.hpp"
#include "trace/filter.hpp"

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
        port::store_shared(left_, count);
        port::store_shared(state_, starts ? State::before : State::running);
        tag_ = tag;
    }
    void disarm() { port::store_shared(state_, State::none); }

    bool armed() const { return state() == State::before || state() == State::running; }
    bool active() const { return state() != State::none; }
    std::uint32_t tag() const { return tag_; }
    /// Nothing is recorded: not begun, or over.
    bool holds() const { return state() == State::before || state() == State::over; }

    /// About a traced access of the CPU that asks, with the trigger's lock held if it
    /// may match.
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

    /// The largest count.
    static constexpr std::uint32_t most = 0x7fff'ffff;

private:
    enum class State : std::uint32_t { none, before, running, over };

    State state() const { return port::load_shared(state_); }

    State state_{State::none};
    std::uint32_t left_{};
    std::uint32_t tag_{};
};

} // namespace mmioscope
