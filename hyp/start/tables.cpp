#include "start/tables.hpp"

#include "abi/ring.hpp"

#include <algorithm>

namespace mmioscope {

namespace {

bool map_image(TranslationTable& table, const ImageLayout& image, TablePool& pool) {
    if (!table.map(image.text, lpae::hyp_text, pool)) return false;
    if (!table.map(image.constants, lpae::hyp_constants, pool)) return false;
    if (!table.map(image.data, lpae::hyp_data, pool)) return false;
    for (std::uint64_t s = image.stacks.begin; s < image.stacks.end; s += stack_size)
        if (!table.map({s + page_size, s + stack_size}, lpae::hyp_data, pool)) return false;
    return true;
}

Range pages_of(Range range) {
    return {page_floor(range.begin), page_ceil(range.end)};
}

bool overlaps(const MemoryMap& parts, Range range) {
    return std::ranges::any_of(parts, [&](const Range& part) { return part.overlaps(range); });
}

bool map_uart(TranslationTable& table, const Uart& uart, TablePool& pool) {
    const std::uint64_t base = uart.base.value;
    return uart.model == UartModel::none ||
           table.map(pages_of({base, base + 1}), lpae::hyp_device, pool);
}

/// The pages of `span` that the guest may use without a trap. Spans are disjoint, so only the first
/// and the last page can contain another device's bytes.
Range untrapped_pages(const Span& span, const RegionMap& map) {
    Range pages = pages_of(span.range);
    if (map.page_trapped({pages.begin})) pages.begin += page_size;
    if (!pages.empty() && map.page_trapped({pages.end - page_size})) pages.end -= page_size;
    return span.traps() ? Range{} : pages;
}

bool is_memory(const Span& span, const RegionTable& regions) {
    return (regions[span.region].flags & abi::region_memory) != 0;
}

} // namespace

bool build_boot_stage1(TranslationTable& table, const ImageLayout& image, Range boot_tree,
                       const Uart& uart, TablePool& pool) {
    return map_image(table, image, pool) && table.map(pages_of(boot_tree), lpae::hyp_data, pool) &&
           map_uart(table, uart, pool);
}

bool build_stage1(TranslationTable& table, const ImageLayout& image, Range boot_tree,
                  const Uart& uart, const MemoryMap& memory, const MemoryMap& no_map,
                  const RegionTable& regions, const RegionMap& map, bool shared, TablePool& pool) {
    for (const Range& range : memory)
        if (!table.map(range, lpae::hyp_shared, pool)) return false;
    for (const Range& range : no_map)
        if (!table.unmap(range, pool)) return false;
    const Range own{image.text.begin, image.area.end};
    for (const Span& span : map) {
        const Range pages = pages_of(span.range);
        // Device memory is never accessed speculatively. So memory that is traced like a device may
        // be no_map: Hyp makes the guest's own accesses there, and no others.
        const bool kept = is_memory(span, regions) && overlaps(no_map, pages);
        const bool is_device = kept ? span.traced() : !overlaps(memory, pages);
        if (is_device && !pages.overlaps(own) && !table.map(pages, lpae::hyp_device, pool))
            return false;
    }
    const Range tree = pages_of(boot_tree);
    return map_uart(table, uart, pool) && // the tree may not name it (EARLY_UART)
           map_image(table, image, pool) &&
           table.map(image.area, shared ? lpae::hyp_shared : lpae::hyp_data, pool) &&
           table.map(tree, tree.overlaps(own) ? lpae::hyp_data : lpae::hyp_shared, pool);
}

bool build_stage2(TranslationTable& table, const TranslationTable* normal, const MemoryMap& memory,
                  const RegionTable& regions, const RegionMap& map, lpae::Attributes as_memory,
                  TablePool& pool) {
    const bool in_steps = normal != nullptr;
    const bool alike = in_steps && as_memory.bits == lpae::guest_memory.bits;
    const lpae::Attributes device = in_steps ? lpae::traced_device : lpae::guest_device;
    if (in_steps) table.share(*normal, pool);
    for (const Range& range : memory)
        if (!alike && !table.map(range, as_memory, pool)) return false;

    for (const Span& span : map) // memory that is traced like a device
        if (!alike && (in_steps ? span.is_withheld() : span.traps()) &&
            pages_of(span.range).end <= lpae::input_end && !table.unmap(pages_of(span.range), pool))
            return false;

    for (const Span& span : map) {
        const Range all = pages_of(span.range), untrapped = untrapped_pages(span, map);
        const Range pages = in_steps ? all : untrapped;
        if (span.is_withheld() || pages.empty() || pages.end > lpae::input_end) continue;
        const bool shared = alike && is_memory(span, regions) && untrapped.size() == all.size();
        if (!shared && !table.map(pages, is_memory(span, regions) ? as_memory : device, pool))
            return false;
    }
    return true;
}

} // namespace mmioscope
