#include "mm/stage2.hpp"

#include "abi/ring.hpp"

namespace mmioscope {

namespace {

/// The pages of `span` that the guest may use without a trap. Spans are disjoint, so only the first
/// and the last page can contain another device's bytes.
Range untrapped_pages(const Span& span, const RegionMap& map) {
    Range pages{page_floor(span.range.begin), page_ceil(span.range.end)};
    if (map.page_trapped({pages.begin})) pages.begin += page_size;
    if (!pages.empty() && map.page_trapped({pages.end - page_size})) pages.end -= page_size;
    return pages;
}

Range all_pages(const Span& span) {
    return {page_floor(span.range.begin), page_ceil(span.range.end)};
}

} // namespace

bool build_stage2(TranslationTable& table, const MemoryMap& memory, const RegionTable& regions,
                  const RegionMap& map, bool with_trapped, TablePool& pool,
                  lpae::Attributes as_memory) {
    const lpae::Attributes device = with_trapped ? lpae::traced_device : lpae::guest_device;
    for (const Range& range : memory)
        if (!table.map(range, as_memory, pool)) return false;

    for (const Span& span : map) // memory that is traced like a device
        if ((span.withheld || (!with_trapped && (span.traced() || span.trapped))) &&
            all_pages(span).end <= lpae::input_end && !table.unmap(all_pages(span), pool))
            return false;

    for (const Span& span : map) {
        if (span.withheld) continue;
        if (!with_trapped && (span.traced() || span.trapped)) continue;
        const Range pages = with_trapped ? all_pages(span) : untrapped_pages(span, map);
        if (pages.empty() || pages.end > lpae::input_end) continue;
        const bool is_memory = (regions[span.region].flags & abi::region_memory) != 0;
        if (!table.map(pages, is_memory ? as_memory : device, pool)) return false;
    }
    return true;
}

} // namespace mmioscope
