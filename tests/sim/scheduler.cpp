#include "scheduler.hpp"

#include <exception>

namespace mmioscope::sim {

Scheduler::Scheduler(std::uint64_t seed, unsigned switch_one_in, std::uint64_t step_limit)
    : random_(seed), switch_one_in_(switch_one_in), step_limit_(step_limit) {}

Scheduler::~Scheduler() {
    // Lets unfinished tasks unwind their stacks.
    stopping_ = true;
    for (unsigned i = 0; i < tasks_.size(); ++i)
        if (tasks_[i]->started && !tasks_[i]->ended) switch_to(i);
}

unsigned Scheduler::add(std::function<void()> body) {
    const auto number = static_cast<unsigned>(tasks_.size());
    auto task = std::make_unique<Task>();
    task->fiber = std::make_unique<Fiber>(
        [this, number, body = std::move(body)]() -> Fiber& { return perform(number, body); });
    tasks_.push_back(std::move(task));
    return number;
}

void Scheduler::try_body(const std::function<void()>& body) {
    try {
        body();
    } catch (const Halted&) {
    } catch (const Stopped&) {
    } catch (const Failure& failure) {
        if (failure_.empty()) failure_ = failure.text;
        stopping_ = true;
    } catch (const std::exception& error) {
        if (failure_.empty()) failure_ = error.what();
        stopping_ = true;
    }
}

/// No switch happens inside a catch clause: exceptions being handled belong to the thread, not to
/// the fiber.
Fiber& Scheduler::perform(unsigned number, const std::function<void()>& body) {
    if (!stopping_) try_body(body);
    tasks_[number]->ended = true;
    ++progress_;
    const unsigned next = stopping_ ? nobody : pick();
    current_ = next;
    if (next == nobody) return *main_;
    tasks_[next]->started = true;
    return *tasks_[next]->fiber;
}

void Scheduler::run() {
    main_ = std::make_unique<Fiber>();
    const unsigned first = pick();
    if (first != nobody) switch_to(first);
}

unsigned Scheduler::pick() {
    ready_.clear();
    bool all_idle = true;
    for (unsigned i = 0; i < tasks_.size(); ++i) {
        if (tasks_[i]->ended) continue;
        ready_.push_back(i);
        all_idle &= tasks_[i]->idle_since == progress_;
    }
    return all_idle ? nobody : ready_[random_.below(ready_.size())];
}

void Scheduler::switch_to(unsigned next) {
    Fiber& from = current_ == nobody ? *main_ : *tasks_[current_]->fiber;
    Fiber& to = next == nobody ? *main_ : *tasks_[next]->fiber;
    if (&from == &to) return;
    const unsigned self = current_;
    if (next != nobody) tasks_[next]->started = true;
    current_ = next;
    from.switch_to(to);
    current_ = self;
}

void Scheduler::maybe_switch(bool certainly) {
    if (certainly || random_.one_in(switch_one_in_)) switch_to(pick());
    if (stopping_) throw Stopped{};
}

void Scheduler::point() {
    if (++steps_ > step_limit_ && !stopping_) throw Failure{"no end in sight: too many steps"};
    if (current_ == nobody) return;
    ++progress_;
    maybe_switch(false);
}

void Scheduler::wait() {
    if (++steps_ > step_limit_ && !stopping_) throw Failure{"no end in sight: too many steps"};
    if (current_ == nobody) return;
    tasks_[current_]->idle_since = progress_;
    maybe_switch(true);
}

void Scheduler::stop() {
    stopping_ = true;
    throw Stopped{};
}

} // namespace mmioscope::sim
