#include "analysis/collapse.hpp"

#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>

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

} // namespace mmioscope::analysis
