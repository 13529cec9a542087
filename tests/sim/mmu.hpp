// The guest's stage 1: memory and devices mapped to themselves, and pages of a window one after the
// other (short descriptors, ARM ARM B3.5).
#pragma once

#include "code.hpp"

#include <span>

namespace mmioscope::sim::mmu {

inline constexpr std::uint32_t first_level = 0x8030'0000;
inline constexpr std::uint32_t second_level = 0x8030'4000;
inline constexpr std::uint32_t window = 0x4000'0000;
inline constexpr std::uint32_t full_access = 3u << 4 | 2; ///< a small page
inline constexpr std::uint32_t uncached = 1u << 6;        ///< Normal Non-cacheable

/// Writes the tables; `pages`: the window's descriptors.
inline void write_tables(Ram& ram, std::span<const std::uint32_t> pages) {
    constexpr std::uint32_t section = 0xc02; // full access
    for (const std::uint32_t begin : {0x8000'0000u, 0x1c00'0000u})
        for (std::uint32_t va = begin; va < begin + 0x0200'0000; va += 1 << 20)
            ram.store<std::uint32_t>(first_level + (va >> 20 << 2), va | section);
    ram.store<std::uint32_t>(first_level + (window >> 20 << 2), second_level | 1);
    std::uint32_t entry = second_level;
    for (const std::uint32_t page : pages) {
        ram.store<std::uint32_t>(entry, page);
        entry += 4;
    }
}

/// The program turns it on; changes r0.
inline Code& turn_on(Code& code) {
    code.mov(0, first_level).word(0xee02'0f10);                          // TTBR0
    code.mov(0, 0x5555'5555).word(0xee03'0f10);                          // DACR
    return code.mov(0, 0x00c5'0079).word(0xee01'0f10).word(0xf57f'f06f); // SCTLR, ISB
}

} // namespace mmioscope::sim::mmu
