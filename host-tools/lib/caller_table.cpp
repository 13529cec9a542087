#include "lib/caller_table.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace mmioscope::trace {

namespace {

auto place_of(const CallerEntry& entry) {
    return std::tuple(entry.cpu, entry.first_sequence);
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
    std::stable_sort(entries_.begin(), entries_.end(), [](const auto& left, const auto& right) {
        return place_of(left) < place_of(right);
    });
}

void CallerTable::find(Last& last, const abi::Record& record) const {
    const std::tuple place(std::uint32_t{record.cpu}, record.cpu_sequence);
    const auto behind =
        std::upper_bound(entries_.begin(), entries_.end(), place,
                         [](const auto& p, const auto& entry) { return p < place_of(entry); });
    constexpr std::uint64_t all = std::uint64_t{1} << 32;
    last = {record.cpu_sequence, 0, all - record.cpu_sequence, 0};
    if (behind != entries_.begin() && std::prev(behind)->cpu == record.cpu) {
        const CallerEntry& entry = *std::prev(behind);
        last = {entry.first_sequence, entry.count, all - entry.first_sequence, entry.caller};
    }
    if (behind != entries_.end() && behind->cpu == record.cpu) {
        last.span = behind->first_sequence - last.first;
    }
}

} // namespace mmioscope::trace
