#include "analysis/collapse.hpp"

#include "records/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mmioscope::analysis {

namespace {

bool same_place(const abi::Record& a, const abi::Record& b) {
    return a.pc == b.pc && a.pa_low == b.pa_low && a.pa_high == b.pa_high && a.cpu == b.cpu &&
           a.access == b.access && a.type == b.type;
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
    if (Run* run = find(record)) {
        run->last = record;
        run->last_number = event.number;
        run->last_nanoseconds = event.nanoseconds;
        ++run->count;
        return;
    }
    if (runs_.size() == most_places) {
        release();
    }
    start_ = runs_.empty() ? event.nanoseconds : start_;
    event.settle();
    runs_.push_back({event, record, event.number, event.nanoseconds, 1});
    if (!may_repeat(record)) {
        release();
    }
}

Collapse::Run* Collapse::find(const abi::Record& record) {
    const auto found = std::find_if(runs_.begin(), runs_.end(), [&record](const Run& run) {
        return same_place(run.last, record);
    });
    return found == runs_.end() ? nullptr : &*found;
}

void Collapse::release() {
    for (const Run& run : runs_) {
        give(run);
    }
    runs_.clear();
}

void Collapse::give(const Run& run) {
    if (run.count == 1) {
        next_.add(run.first);
        return;
    }
    DerivedEvent derived{"repeat",
                         run.first,
                         run.last,
                         run.last_number,
                         run.last_nanoseconds,
                         run.count,
                         fmt::format("x{}", run.count),
                         {}};
    if (run.last.value != run.first.record.value) {
        derived.text += fmt::format(", last {:#x}", run.last.value);
        derived.fields.push_back({"last_value", run.last.value});
    }
    next_.add_derived(derived);
}

} // namespace mmioscope::analysis
