#include "lib/caller_table.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace mmioscope::trace {

namespace {

constexpr std::uint64_t place_of(std::uint32_t cpu, std::uint32_t sequence) {
    return std::uint64_t{cpu} << 32 | sequence;
}
std::uint64_t place_of(const CallerEntry& entry) {
    return place_of(entry.cpu, entry.first_sequence);
}

} // namespace

void CallerRuns::add(const abi::Record& record, std::uint32_t caller) {
    std::uint32_t& last = last_[record.cpu];
    CallerEntry* const entry = last == none ? nullptr : &entries_[last];
    if (entry != nullptr && entry->caller == caller && record.cpu_sequence != 0 &&
        entry->first_sequence + entry->count == record.cpu_sequence) {
        ++entry->count;
    } else {
        last = static_cast<std::uint32_t>(entries_.size());
        entries_.push_back({record.cpu, record.cpu_sequence, 1, caller});
    }
}

void CallerRuns::clear() {
    entries_.clear();
    std::ranges::fill(last_, none);
}

void CallerTable::assign(std::span<const std::byte> payload) {
    entries_.resize(payload.size() / sizeof(CallerEntry));
    if (!entries_.empty()) {
        std::memcpy(entries_.data(), payload.data(), entries_.size() * sizeof(CallerEntry));
    }
    last_ = {};
    sorted_ = false;
}

// Those of one CPU come in its order, so mostly it is enough to part them by CPUs.
void CallerTable::sort() const {
    std::array<std::size_t, 257> begins{};
    for (const CallerEntry& entry : entries_) {
        begins[std::min<std::size_t>(entry.cpu, 255) + 1] += entry.cpu < 256 ? 1 : 0;
    }
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    parted_.resize(begins.back());
    for (const CallerEntry& entry : entries_) {
        if (entry.cpu < 256) { // no record is of another
            parted_[begins[entry.cpu]++] = entry;
        }
    }
    entries_.swap(parted_);
    const auto place = [](const CallerEntry& entry) { return place_of(entry); };
    if (!std::ranges::is_sorted(entries_, {}, place)) {
        std::ranges::stable_sort(entries_, {}, place);
    }
}

constexpr std::uint64_t all = std::uint64_t{1} << 32;

void CallerTable::take(Last& last, std::size_t at) const {
    const CallerEntry& entry = entries_[at];
    const bool goes_on = at + 1 < entries_.size() && entries_[at + 1].cpu == entry.cpu;
    last = {entry.first_sequence, entry.count,
            (goes_on ? entries_[at + 1].first_sequence : all) - entry.first_sequence, entry.caller,
            static_cast<std::uint32_t>(at + 1)};
}

void CallerTable::find(Last& last, const abi::Record& record) const {
    if (!std::exchange(sorted_, true)) {
        sort();
    }
    // Mostly it is the entry behind the last one.
    if (last.behind < entries_.size() && entries_[last.behind].cpu == record.cpu) {
        take(last, last.behind);
        if (record.cpu_sequence - last.first < last.span) {
            return;
        }
    }
    const auto behind = static_cast<std::size_t>(
        std::ranges::upper_bound(entries_, place_of(record.cpu, record.cpu_sequence), {},
                                 [](const auto& e) { return place_of(e); }) -
        entries_.begin());
    if (behind > 0 && entries_[behind - 1].cpu == record.cpu) {
        take(last, behind - 1);
        return;
    }
    const bool goes_on = behind < entries_.size() && entries_[behind].cpu == record.cpu;
    last = {record.cpu_sequence, 0,
            (goes_on ? entries_[behind].first_sequence : all) - record.cpu_sequence, 0,
            static_cast<std::uint32_t>(behind)};
}

} // namespace mmioscope::trace
