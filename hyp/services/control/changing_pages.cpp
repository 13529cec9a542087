#include "control/changing_pages.hpp"

namespace mmioscope {

namespace {

constexpr std::uint64_t largest = 16 << 20;

bool may_change(const Span& span, const RegionTable& regions) {
    const bool memory = (regions[span.region].flags & abi::region_memory) != 0;
    return !span.is_withheld() && (!memory || span.selected()) && span.range.size() <= largest &&
           page_ceil(span.range.end) <= lpae::input_end;
}

} // namespace

bool prepare_changing_pages(TranslationTable& normal, const RegionTable& regions, RegionMap& map,
                            TablePool& pool) {
    for (Span& span : map) {
        if (!may_change(span, regions)) continue;
        if (!normal.split({page_floor(span.range.begin), page_ceil(span.range.end)}, pool))
            return false;
        span.changeable = true;
    }
    return true;
}

lpae::Descriptor page_descriptor(const RegionMap& map, const TranslationTable& shadow,
                                 std::uint64_t page) {
    const lpae::Descriptor leaf = shadow.lookup(page);
    if (map.page_trapped({page}) || !lpae::is_valid(leaf)) return 0;
    return lpae::make_leaf(page, lpae::untraced(lpae::attributes_of(leaf)), lpae::last_level);
}

} // namespace mmioscope
