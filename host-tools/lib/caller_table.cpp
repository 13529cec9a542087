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

void CallerTable::assign(std::span<const std::byte> payload) {
    entries_.resize(payload.size() / sizeof(CallerEntry));
    if (!entries_.empty()) {
        std::memcpy(entries_.data(), payload.data(), entries_.size() * sizeof(CallerEntry));
    }
    std::stable_sort(entries_.begin(), entries_.end(), [](const auto& left, const auto& right) {
        return place_of(left) < place_of(right);
    });
}

std::optional<std::uint32_t> CallerTable::of(const abi::Record& record) const {
    const std::tuple place(std::uint32_t{record.cpu}, record.cpu_sequence);
    const auto behind =
        std::upper_bound(entries_.begin(), entries_.end(), place,
                         [](const auto& p, const auto& entry) { return p < place_of(entry); });
    if (behind == entries_.begin()) {
        return std::nullopt;
    }
    const CallerEntry& entry = *std::prev(behind);
    const bool has =
        entry.cpu == record.cpu && record.cpu_sequence - entry.first_sequence < entry.count;
    return has ? std::optional(entry.caller) : std::nullopt;
}

} // namespace mmioscope::trace
