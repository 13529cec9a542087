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
    std::vector<std::pair<std::uint64_t, std::uint64_t>> joined;
    for (const auto& [base, end] : mappings_) {
        if (at(base) != nullptr) {
            continue;
        }
        if (!joined.empty() && base <= joined.back().second) {
            joined.back().second = std::max(joined.back().second, end);
        } else {
            joined.emplace_back(base, end);
        }
    }
    for (const auto& [base, end] : joined) {
        const auto next = by_base_.lower_bound(base);
        const std::uint64_t stop = next == by_base_.end() ? end : std::min(end, next->first);
        add(base, stop - base, fmt::format("/map@{:x}", base));
    }
    mappings_.clear();
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
