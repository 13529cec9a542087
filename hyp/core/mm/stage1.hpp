// Hyp's own stage-1 tables: everything at its physical address, nothing both writable and
// executable, guard pages below the stacks.
#pragma once

#include "board/uart.hpp"
#include "mm/stage2.hpp"

namespace mmioscope {

/// The parts of the hypervisor's image, as in the linker script; page-aligned.
struct ImageLayout {
    Range text;
    Range constants;
    Range data;      ///< data, bss, tables
    Range stacks;    ///< each stack has stack_size bytes; its lowest page is a guard
    Range area;      ///< trace area
    Range boot_tree; ///< where a boot loader may put the device tree
};

/// Bytes, with the guard; each CPU has two.
inline constexpr std::uint64_t stack_size = 4 * page_size;

/// Builds the first table: the image, the tree at `boot_tree`, and the UART if there is one. False:
/// the pool is empty. The tree is read by words in Normal memory, before anything else is known.
[[nodiscard]] bool build_boot_stage1(TranslationTable& table, const ImageLayout& image,
                                     Range boot_tree, const Uart& uart, TablePool& pool);

/// Builds the final table: the image, the UART, the guest's memory without `no_map`, all devices
/// that are not memory, the trace area (uncached if it is `shared` with the guest), and the tree at
/// `boot_tree`. All memory that is not the hypervisor's is Non-cacheable. False: the pool is empty.
[[nodiscard]] bool build_stage1(TranslationTable& table, const ImageLayout& image, Range boot_tree,
                                const Uart& uart, const MemoryMap& memory, const MemoryMap& no_map,
                                const RegionTable& regions, const RegionMap& map, bool shared,
                                TablePool& pool);

/// The end of CPU `number`'s stack.
constexpr PhysicalAddress stack_end(const ImageLayout& image, unsigned number) {
    return {image.stacks.begin + (2 * number + 1) * stack_size};
}

/// Turns this CPU's MMU and caches on. Its stack ends at `stack_end`.
void enable_stage1(const TranslationTable& table, PhysicalAddress stack_end);
/// Changes to another table that maps the image in the same way.
void change_stage1(const TranslationTable& table);

} // namespace mmioscope
