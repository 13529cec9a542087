// Hyp's own stage 1: the parts of its image, and its MMU. start/tables.hpp builds the tables.
#pragma once

#include "mm/translation_table.hpp"

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

/// The end of CPU `number`'s stack.
constexpr PhysicalAddress stack_end(const ImageLayout& image, unsigned number) {
    return {image.stacks.begin + (2 * number + 1) * stack_size};
}

/// Turns this CPU's MMU and caches on. Its stack ends at `stack_end`.
void enable_stage1(const TranslationTable& table, PhysicalAddress stack_end);
/// Changes to another table that maps the image in the same way.
void change_stage1(const TranslationTable& table);

} // namespace mmioscope
