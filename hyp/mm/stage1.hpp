// Hyp's own view of memory: everything at its physical address, nothing both writable and
// executable, guard pages below the stacks.
#pragma once

#include "mm/stage2.hpp"

namespace mmioscope {

/// The parts of the hypervisor's image, as the linker script lays them out; page-aligned.
struct ImageLayout {
    Range text;
    Range constants;
    Range data;      ///< data, bss, tables
    Range stacks;    ///< stack_size apart, the lowest page of each a guard
    Range area;      ///< trace area
    Range boot_tree; ///< where a loader may put the device tree
};

inline constexpr std::uint64_t stack_size = 4 * page_size; ///< per CPU and kind, guard included

/// Builds the table to begin with: the image, the tree at `boot_tree` and the UART. False when
/// the pool is empty. The tree is read by words in Normal memory, before anything else is known.
[[nodiscard]] bool build_boot_stage1(TranslationTable& table, const ImageLayout& image,
                                     Range boot_tree, PhysicalAddress uart, TablePool& pool);

/// Builds the one to stay with: the image, the guest's memory, all devices that are no memory, the
/// trace area, uncached if it is `shared` with the guest, and the tree at `boot_tree`.
[[nodiscard]] bool build_stage1(TranslationTable& table, const ImageLayout& image, Range boot_tree,
                                const MemoryMap& memory, const RegionMap& map, bool shared,
                                TablePool& pool);

/// Where the stack of CPU `number` ends.
constexpr PhysicalAddress stack_end(const ImageLayout& image, unsigned number) {
    return {image.stacks.begin + (2 * number + 1) * stack_size};
}

/// Turns MMU and caches of this CPU on, whose stack ends at `stack_end`.
void enable_stage1(const TranslationTable& table, PhysicalAddress stack_end);
/// Changes to another table that maps the image alike.
void change_stage1(const TranslationTable& table);

} // namespace mmioscope
