#include "lib/index_builder.hpp"

#include "lib/callers.hpp"

#include <algorithm>
#include <cstring>

namespace mmioscope::trace {

namespace {

void join_into(abi::IndexEntry& first, const abi::IndexEntry& second) {
    first.earliest = std::min(first.earliest, second.earliest);
    first.latest = std::max(first.latest, second.latest);
    first.types |= second.types;
}

} // namespace

void Extent::add(const Run& run) {
    records += run.count;
    times.add(run.first->time);
    times.add(run.last->time);
    teaches = teaches || trace::teaches(run.first->type);
}

// Mostly all are accesses, each later than the one before: a bit that only other types have tells
// that some are not.
void Extent::add(std::span<const abi::Record> more) {
    if (more.empty()) {
        return;
    }
    times.add(more.front().time);
    TimeSpan span = times;
    unsigned bits = 0;
#pragma GCC unroll 4 // each record of each trace passes here
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
    teaches = teaches || (bits != static_cast<unsigned>(abi::RecordType::access) &&
                          std::ranges::any_of(more, trace::teaches, &abi::Record::type));
}

Extent extent_of(std::span<const abi::Record> records) {
    Extent extent;
    extent.add(records);
    return extent;
}

void IndexBuilder::add(abi::SectionType type, std::uint64_t offset, const Extent& records) {
    const std::uint32_t types =
        abi::index_type_bit(type) | (records.teaches ? abi::index_teaches : 0);
    join_into(entry_for(offset), {0, 0, records.times.earliest, records.times.latest, types, 0});
    records_ += records.records;
    open_ = type == callers_section;
}

abi::IndexEntry& IndexBuilder::entry_for(std::uint64_t offset) {
    const bool full =
        !entries_.empty() && (offset - entries_.back().offset >= grain_ ||
                              records_ - entries_.back().records_before >= grain_ / 16);
    if (entries_.empty() || (!open_ && full)) {
        if (entries_.size() == max_index_entries) {
            join();
        }
        entries_.push_back({offset, records_, TimeSpan().earliest, TimeSpan().latest, 0, 0});
    }
    return entries_.back();
}

void IndexBuilder::join() {
    for (std::size_t i = 0; i < entries_.size() / 2; ++i) {
        entries_[i] = entries_[2 * i];
        join_into(entries_[i], entries_[2 * i + 1]);
    }
    entries_.resize(entries_.size() / 2);
    grain_ *= 2;
}

std::vector<std::byte> index_payload(std::span<const abi::IndexEntry> entries, std::uint64_t end) {
    const abi::IndexHeader header{sizeof(abi::IndexEntry), 0, end};
    std::vector<std::byte> payload(sizeof header + entries.size_bytes());
    std::memcpy(payload.data(), &header, sizeof header);
    if (!entries.empty()) {
        std::memcpy(payload.data() + sizeof header, entries.data(), entries.size_bytes());
    }
    return payload;
}

} // namespace mmioscope::trace
