#include "analysis/poll_finder.hpp"

#include <algorithm>
#include <vector>

namespace mmioscope::analysis {

// Accesses to interrupt numbers tell which thread continues. They are part of no driver's loop.
std::optional<Thread> PollFinder::add(const Event& event) {
    const abi::Record& record = event.record;
    if (record.type != abi::RecordType::access) {
        return std::nullopt;
    }
    if (event.interrupt_id() != no_id) {
        if (threads_.follow(record)) {
            leave(threads_.of(record)); // a handler that runs again starts a new loop
        }
        return std::nullopt;
    }
    const Thread thread = threads_.of(record);
    State& state = state_of(thread, event.nanoseconds);
    data_.add(record);
    if (state.loop) {
        event.settle(); // a loop keeps its events, and most go on
    }
    state.repeats.add(event);
    follow(thread, state);
    return thread;
}

PollFinder::State& PollFinder::state_of(Thread thread, std::uint64_t now) {
    if (newest_ == nullptr || newest_->first != thread) {
        if (states_.size() == most_threads && !states_.contains(thread)) {
            forget_oldest();
        }
        newest_ = &*states_.try_emplace(thread).first;
    }
    State& state = newest_->second;
    if (now > state.time + longest_pause) {
        end(thread, state);
        state.repeats.clear();
    }
    state.time = now;
    return state;
}

// Forgets half of them at once, so that the search for the oldest is rare.
void PollFinder::forget_oldest() {
    std::vector<std::uint64_t> times;
    for (const auto& [thread, state] : states_) {
        times.push_back(state.time);
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    for (auto at = states_.begin(); at != states_.end();) {
        const bool old = at->second.time <= *middle;
        if (old) {
            end(at->first, at->second);
        }
        at = old ? states_.erase(at) : std::next(at);
    }
}

// An inner loop ends whenever the outer one continues, so it counts as part of the outer one.
void PollFinder::follow(Thread thread, State& state) {
    Repeats& repeats = state.repeats;
    if (state.loop && repeats.goes_on(state.loop->period())) {
        state.loop->add(repeats.back(0));
        return;
    }
    const unsigned period = repeats.period();
    if (period == 0) {
        if (end(thread, state)) {
            const Event next = repeats.back(0);
            repeats.clear();
            repeats.add(next);
        }
        return;
    }
    repeats.back(0).settle();
    state.loop.emplace(period);
    for (unsigned i = 2 * period + 1; i-- > 0;) {
        state.loop->add(repeats.back(i));
    }
}

bool PollFinder::end_loop(Thread thread, State& state, bool left) {
    std::optional<Poll> poll = poll_of(*state.loop, data_);
    state.loop.reset();
    if (!poll) {
        return false;
    }
    if (!left && poll->end != PollEnd::value) {
        poll->end = PollEnd::unended;
    }
    take_(thread, *poll);
    return true;
}

void PollFinder::leave(Thread thread) {
    const auto found = states_.find(thread);
    if (found != states_.end()) {
        end(thread, found->second);
        found->second.repeats.clear();
    }
}

std::optional<std::uint64_t> PollFinder::begun(Thread thread) const {
    const auto found = states_.find(thread);
    return found == states_.end() || !found->second.loop
               ? std::nullopt
               : std::optional(found->second.loop->first().number);
}

void PollFinder::cut(Thread thread) {
    const auto found = states_.find(thread);
    if (found != states_.end()) {
        end(thread, found->second, false);
        found->second.repeats.clear();
    }
}

void PollFinder::cut_all() {
    for (auto& [thread, state] : states_) {
        end(thread, state, false);
    }
    states_.clear();
    newest_ = nullptr;
}

} // namespace mmioscope::analysis
