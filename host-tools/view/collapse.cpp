#include "view/collapse.hpp"

#include <algorithm>

namespace mmioscope::view {

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
    const bool over = !runs_.empty() && event.nanoseconds - start_ > window_;
    if (over || !may_repeat(record)) {
        flush();
    }
    if (Run* run = find(record)) {
        run->last = record;
        ++run->count;
        return;
    }
    if (runs_.size() == most_places) {
        flush();
    }
    start_ = runs_.empty() ? event.nanoseconds : start_;
    event.settle();
    runs_.push_back({event, record, 1});
    if (!may_repeat(record)) {
        flush();
    }
}

Run* Collapse::find(const abi::Record& record) {
    const auto found = std::find_if(runs_.begin(), runs_.end(), [&record](const Run& run) {
        return same_place(run.last, record);
    });
    return found == runs_.end() ? nullptr : &*found;
}

void Collapse::flush() {
    std::for_each(runs_.begin(), runs_.end(), print_);
    runs_.clear();
}

} // namespace mmioscope::view
