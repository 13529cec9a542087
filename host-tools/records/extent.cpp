#include "records/extent.hpp"

#include <algorithm>

namespace mmioscope::trace {

void Extent::add(const Run& run) {
    records += run.count;
    times.add(run.first->time);
    times.add(run.last->time);
    teaches = teaches || trace::teaches(run.first->type);
    begins = begins || run.first->type == abi::RecordType::begin;
}

// Usually all are accesses, each later than the previous one. A bit that only other types have
// shows the exceptions.
void Extent::add(std::span<const abi::Record> more) {
    if (more.empty()) {
        return;
    }
    times.add(more.front().time);
    TimeSpan span = times;
    unsigned bits = 0;
#pragma GCC unroll 4 // all records of all traces pass here
    for (const abi::Record& record : more) {
        if (record.time >= span.latest) [[likely]] {
            span.latest = record.time;
        } else {
            span.add(record.time);
        }
        bits |= static_cast<unsigned>(record.type);
    }
    records += more.size();
    times = span;
    if (bits != static_cast<unsigned>(abi::RecordType::access)) {
        teaches = teaches || std::ranges::any_of(more, trace::teaches, &abi::Record::type);
        begins = begins ||
                 std::ranges::find(more, abi::RecordType::begin, &abi::Record::type) != more.end();
    }
}

Extent extent_of(std::span<const abi::Record> records) {
    Extent extent;
    extent.add(records);
    return extent;
}

} // namespace mmioscope::trace
