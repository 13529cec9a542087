#include "analysis/fold.hpp"

#include "analysis/poll_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace mmioscope::analysis {

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
