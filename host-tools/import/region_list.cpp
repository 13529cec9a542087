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
    const std::vector<Range> free = free_ranges();
    for (const Range& range : free) {
        add(range.base, range.end - range.base, fmt::format("/map@{:x}", range.base));
    }
    mappings_.clear();
}

// The parts of mappings that belong to no region, joined with adjacent ones. One pass over both
// lists, so the time is linear.
std::vector<RegionList::Range> RegionList::free_ranges() const {
    std::vector<Range> free;
    auto next = by_base_.begin(); // the first region that ends after `at`
    std::uint64_t at = 0;         // everything before is done
    for (const auto& [base, end] : mappings_) {
        at = std::max(at, base);
        while (at < end) {
            while (next != by_base_.end() && end_of(next->second) <= at) {
                ++next;
            }
            const std::uint64_t region = next == by_base_.end() ? end : next->first;
            if (region <= at) {
                at = end_of(next->second);
                continue;
            }
            const std::uint64_t stop = std::min(end, region);
            if (!free.empty() && at == free.back().end) {
                free.back().end = stop;
            } else {
                free.push_back({at, stop});
            }
            at = stop;
        }
    }
    return free;
}

std::uint64_t RegionList::end_of(std::size_t index) const {
    return regions_[index].base + regions_[index].size;
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
