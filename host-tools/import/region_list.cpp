#include "import/region_list.hpp"

#include "import/importing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mmioscope::importing {

void RegionList::add(std::uint64_t base, std::uint64_t size, const std::string& path,
                     unsigned index) {
    const auto next = by_base_.lower_bound(base);
    const bool overlaps =
        at(base) != nullptr || (next != by_base_.end() && next->first - base < size);
    if (overlaps || regions_.size() == most) {
        left_out_ += overlaps ? 0 : 1;
        return;
    }
    by_base_[base] = static_cast<std::uint16_t>(regions_.size());
    regions_.push_back(make_region(base, size, path));
    regions_.back().reg_index = static_cast<std::uint16_t>(index);
}

void RegionList::add_mapping(std::uint64_t base, std::uint64_t size) {
    constexpr std::size_t most_mappings = 1 << 20;
    if (mappings_.size() < most_mappings) {
        std::uint64_t& end = mappings_[base];
        end = std::max(end, base + size);
    }
}

void RegionList::finish() {
    std::vector<Range> free;
    for (const auto& [base, end] : mappings_) {
        add_free({base, end}, free);
    }
    for (const Range& range : free) {
        add(range.base, range.end - range.base, fmt::format("/map@{:x}", range.base));
    }
    mappings_.clear();
}

// What of `mapping` belongs to no region, joined with what it touches.
void RegionList::add_free(Range mapping, std::vector<Range>& free) const {
    while (mapping.base < mapping.end) {
        if (const abi::RegionEntry* const region = at(mapping.base)) {
            mapping.base = region->base + region->size;
            continue;
        }
        const auto next = by_base_.lower_bound(mapping.base);
        const std::uint64_t stop =
            next == by_base_.end() ? mapping.end : std::min(mapping.end, next->first);
        if (!free.empty() && mapping.base <= free.back().end) {
            free.back().end = std::max(free.back().end, stop);
        } else {
            free.push_back({mapping.base, stop});
        }
        mapping.base = stop;
    }
}

const abi::RegionEntry* RegionList::at(std::uint64_t address) const {
    const auto after = by_base_.upper_bound(address);
    if (after == by_base_.begin()) {
        return nullptr;
    }
    const abi::RegionEntry& region = regions_[std::prev(after)->second];
    return address - region.base < region.size ? &region : nullptr;
}

std::uint16_t RegionList::find(std::uint64_t address) const {
    const abi::RegionEntry* const region = at(address);
    return region == nullptr ? abi::no_device
                             : static_cast<std::uint16_t>(region - regions_.data());
}

} // namespace mmioscope::importing
