#include "analysis/merging.hpp"

#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace mmioscope::analysis {

namespace {

// In a word: an access of more than 4 bytes is to all of its words.
bool share_register(const abi::Record& a, const abi::Record& b) {
    const auto first = [](const abi::Record& r) { return abi::physical_address(r) >> 2; };
    const auto last = [](const abi::Record& r) {
        return (abi::physical_address(r) + abi::access_size(r) - 1) >> 2;
    };
    return first(a) <= last(b) && first(b) <= last(a);
}

// A caller is shown without the place of the call.
bool same_function(const Location* a, const Location* b) {
    return a == b ||
           (a != nullptr && b != nullptr && a->function == b->function && a->module == b->module);
}

// All that a line shows but its time, and the duration.
bool same_line(const Event& a, const Event& b) {
    const abi::Record& x = a.record;
    const abi::Record& y = b.record;
    return x.value == y.value && x.pc == y.pc && x.pa_low == y.pa_low && x.cpu == y.cpu &&
           x.access == y.access && x.type == y.type && x.mode == y.mode && x.task == y.task &&
           x.pa_high == y.pa_high && ((x.flags ^ y.flags) & abi::flag_value_unknown) == 0 &&
           a.task() == b.task() && a.carried_out_id == b.carried_out_id && a.note() == b.note() &&
           same_function(a.caller(), b.caller());
}

bool may_repeat(const abi::Record& record) {
    return record.type == abi::RecordType::access || record.type == abi::RecordType::own;
}

} // namespace

void Collapse::add(const Event& event) {
    const abi::Record& record = event.record;
    const bool over = !runs_.empty() && trace::elapsed(start_, event.nanoseconds) > window_;
    if (over || !may_repeat(record)) {
        release();
    }
    if (Repeat* run = find(event)) {
        run->last = record;
        run->last_number = event.number;
        run->last_nanoseconds = event.nanoseconds;
        ++run->count;
        return;
    }
    if (runs_.size() == most_runs) {
        release();
    }
    start_ = runs_.empty() ? event.nanoseconds : start_;
    event.settle();
    runs_.push_back({event, record, event.number, event.nanoseconds, 1});
    if (!may_repeat(record)) {
        release();
    }
}

// Only the newest one of its register: what a register was read and written stays in order.
Collapse::Repeat* Collapse::find(const Event& event) {
    const auto found = std::find_if(runs_.rbegin(), runs_.rend(), [&event](const Repeat& run) {
        return share_register(run.last, event.record);
    });
    return found == runs_.rend() || !same_line(found->first, event) ? nullptr : &*found;
}

void Collapse::release() {
    for (const Repeat& run : runs_) {
        pass(run);
    }
    runs_.clear();
}

void Collapse::pass(const Repeat& run) {
    if (run.count == 1) {
        next_.add(run.first);
        return;
    }
    next_.add_derived({"repeat",
                       run.first,
                       run.last,
                       run.last_number,
                       run.last_nanoseconds,
                       run.count,
                       fmt::format("x{}", run.count),
                       {}});
}

namespace {

DerivedEvent derived_of(const Poll& poll) {
    DerivedEvent derived;
    derived.kind = kind_text(poll.kind);
    derived.last = poll.last.record;
    derived.last_number = poll.last.number;
    derived.last_nanoseconds = poll.last.nanoseconds;
    derived.fields = {{"period", std::uint64_t{poll.period}},
                      {"reads", poll.reads},
                      {"ended", std::string(end_text(poll.end))}};
    if (poll.bits != 0) {
        derived.fields.push_back({"bits", poll.bits});
        derived.fields.push_back({"value", poll.read.record.value & poll.bits});
    }
    return derived;
}

// "poll x193, 50.21 ms, until CmdRespEnd=1"
std::string words_of(const Poll& poll, std::uint64_t count) {
    const std::string how =
        poll.bits != 0 ? "until " + condition_text(poll) : std::string(end_text(poll.end));
    return fmt::format("{} x{}, {:.2f} ms, {}", kind_text(poll.kind), count,
                       static_cast<double>(poll.nanoseconds()) / 1e6, how);
}

} // namespace

void Fold::add(const Event& event) {
    event.settle();
    held_.push_back({event, finder_.add(event)});
    if (held_.size() > most_held) {
        release_first();
    }
}

void Fold::add_all(std::span<const Event> events) {
    Event::resolve(events);
    for (const Event& event : events) {
        add(event);
    }
}

// Searches backwards, because most polls are short and have just ended. A loss has no number. If
// the thread did little, its first accesses may have been passed on already.
void Fold::fold(Thread thread, const Poll& poll) {
    Held* first = nullptr; // read
    std::uint64_t count = 0;
    for (auto at = held_.rbegin(); at != held_.rend(); ++at) {
        const std::uint64_t number = at->event.number;
        if (number != 0 && number < poll.first.number) {
            break;
        }
        if (at->thread != thread || at->folded || number > poll.last.number) {
            continue;
        }
        at->folded = true;
        ++count;
        const bool read = place_of(at->event.record) == place_of(poll.read.record);
        first = read || first == nullptr ? &*at : first;
    }
    if (first != nullptr) {
        first->poll = std::make_unique<DerivedEvent>(derived_of(poll));
        first->poll->first = first->event;
        first->poll->count = count;
        first->poll->text = words_of(poll, count);
    }
}

// Passes on the first event. Cuts the loop that begins with it, because no more events fit.
void Fold::release_first() {
    if (const std::optional<Thread> thread = held_.front().thread) {
        const std::optional<std::uint64_t> begun = finder_.begun(*thread);
        if (begun && *begun <= held_.front().event.number) {
            finder_.cut(*thread);
        }
    }
    const Held first = std::move(held_.front());
    held_.pop_front();
    if (first.poll) {
        next_.add_derived(*first.poll);
    } else if (!first.folded) {
        next_.add(first.event);
    }
}

void Fold::release() {
    finder_.cut_all();
    while (!held_.empty()) {
        release_first();
    }
}

} // namespace mmioscope::analysis
