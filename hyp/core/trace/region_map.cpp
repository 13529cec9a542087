#include "trace/region_map.hpp"

namespace mmioscope {

std::size_t RegionMap::first_ending_after(std::uint64_t address) const {
    std::size_t low = 0;
    std::size_t high = spans_.size();
    while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (spans_[middle].range.end <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

const Span* RegionMap::find(PhysicalAddress address) const {
    const std::size_t i = first_ending_after(address.value);
    if (i == spans_.size() || !spans_[i].range.contains(address.value)) return nullptr;
    return &spans_[i];
}

bool RegionMap::page_trapped(PhysicalAddress address) const {
    const Range page{page_floor(address.value), page_floor(address.value) + page_size};
    for (std::size_t i = first_ending_after(page.begin);
         i < spans_.size() && spans_[i].range.begin < page.end; ++i)
        if (spans_[i].traps()) return true;
    return false;
}

bool RegionMap::any_traced(Range range) const {
    for (std::size_t i = first_ending_after(range.begin);
         i < spans_.size() && spans_[i].range.begin < range.end; ++i)
        if (spans_[i].traced()) return true;
    return false;
}

} // namespace mmioscope
