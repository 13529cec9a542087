#include "records/open_accesses.hpp"

#include <algorithm>

namespace mmioscope::trace {

std::optional<abi::Record> OpenAccesses::add(const abi::Record& record) {
    std::optional<abi::Record> unended;
    if (const auto found = begun_.find(record.cpu); found != begun_.end()) {
        const bool next = record.cpu_sequence == found->second.cpu_sequence + 1;
        const bool lost = record.type == abi::RecordType::gap;
        if (next && !lost && !abi::ends(found->second, record)) {
            unended = found->second;
        }
        begun_.erase(found);
    }
    if (record.type == abi::RecordType::begin) {
        begun_.emplace(record.cpu, record);
    }
    return unended;
}

std::vector<abi::Record> OpenAccesses::open() const {
    std::vector<abi::Record> all;
    for (const auto& [cpu, begin] : begun_) {
        all.push_back(begin);
    }
    return all;
}

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
        KindSet types([](const Kind&) { return false; });
        for (const abi::Record& record : more) {
            types.add(record.type);
        }
        teaches = teaches || types.has_any(teaching);
        begins = begins || types.has(abi::RecordType::begin);
        groups = groups || types.has(abi::RecordType::payload);
    }
}

Extent extent_of(std::span<const abi::Record> records) {
    Extent extent;
    extent.add(records);
    return extent;
}

} // namespace mmioscope::trace
