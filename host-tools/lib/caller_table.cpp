#include "lib/caller_table.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace mmioscope::trace {

namespace {

auto place_of(const CallerEntry& entry) {
    return std::tuple(entry.cpu, entry.first_sequence);
}

bool has(const CallerEntry& entry, const abi::Record& record) {
    return entry.cpu == record.cpu && record.cpu_sequence - entry.first_sequence < entry.count;
}

} // namespace

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

std::optional<std::uint32_t> CallerTable::of(const abi::Record& record) const {
    // Records of a CPU come in their order, so mostly it is the entry of the one before, or the
    // next one.
    std::size_t& last = last_[record.cpu];
    for (std::size_t at = last; at < entries_.size() && at < last + 2; ++at) {
        if (has(entries_[at], record)) {
            last = at;
            return entries_[at].caller;
        }
    }
    const std::tuple place(std::uint32_t{record.cpu}, record.cpu_sequence);
    const bool between = last + 1 < entries_.size() && place_of(entries_[last]) < place &&
                         place < place_of(entries_[last + 1]);
    if (between) {
        return std::nullopt;
    }
    const auto behind =
        std::upper_bound(entries_.begin(), entries_.end(), place,
                         [](const auto& p, const auto& entry) { return p < place_of(entry); });
    if (behind == entries_.begin()) {
        return std::nullopt;
    }
    last = static_cast<std::size_t>(std::prev(behind) - entries_.begin());
    return has(entries_[last], record) ? std::optional(entries_[last].caller) : std::nullopt;
}

} // namespace mmioscope::trace
