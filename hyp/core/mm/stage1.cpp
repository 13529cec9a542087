#include "mm/stage1.hpp"

#include "arch/control.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"

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

bool map_uart(TranslationTable& table, const Uart& uart, TablePool& pool) {
    const std::uint64_t base = uart.base.value;
    return uart.model == UartModel::none ||
           table.map(pages_of({base, base + 1}), lpae::hyp_device, pool);
}

} // namespace

bool build_boot_stage1(TranslationTable& table, const ImageLayout& image, Range boot_tree,
                       const Uart& uart, TablePool& pool) {
    return map_image(table, image, pool) && table.map(pages_of(boot_tree), lpae::hyp_data, pool) &&
           map_uart(table, uart, pool);
}

bool build_stage1(TranslationTable& table, const ImageLayout& image, Range boot_tree,
                  const Uart& uart, const MemoryMap& memory, const RegionMap& map, bool shared,
                  TablePool& pool) {
    if (!map_uart(table, uart, pool)) return false; // the tree may not name it (EARLY_UART)
    for (const Range& range : memory)
        if (!table.map(range, lpae::hyp_data, pool)) return false;
    for (const Span& span : map) {
        const Range pages = pages_of(span.range);
        bool is_memory = pages.overlaps({image.text.begin, image.area.end});
        for (const Range& range : memory) is_memory |= pages.overlaps(range);
        if (!is_memory && !table.map(pages, lpae::hyp_device, pool)) return false;
    }
    return map_image(table, image, pool) &&
           table.map(image.area, shared ? lpae::hyp_shared : lpae::hyp_data, pool) &&
           table.map(pages_of(boot_tree), lpae::hyp_data, pool);
}

void change_stage1(const TranslationTable& table) {
    port::write<reg::HMAIR0>(arch::hmair0);
    port::write<reg::HMAIR1>(0);
    port::write<reg::HTCR>(arch::htcr);
    port::write<reg::HTTBR>(table.root().value);
    port::complete_all();
    port::synchronize_context();
    port::write<reg::TLBIALLH>(0);
    port::write<reg::ICIALLU>(0);
    port::complete_local();
    port::synchronize_context();
}

void enable_stage1(const TranslationTable& table, PhysicalAddress stack_end) {
    change_stage1(table);
    port::mmu_on(arch::hsctlr_on, stack_end);
}

} // namespace mmioscope
