// Breakpoint registers as values (ARM ARM C11.11.2, C11.11.20).
#pragma once

#include "base/field.hpp"

namespace mmioscope::arch {

inline constexpr std::uint32_t dscr_mdbgen = bit(15); ///< DBGDSCR: monitor debug-mode on
inline constexpr std::uint32_t dscr_hdbgen =
    bit(14); ///< halting debug-mode on: an external debugger owns the unit

/// Number of breakpoint register pairs, from DBGDIDR.
constexpr unsigned breakpoint_count(std::uint32_t didr) {
    return Field<27, 24, unsigned>::get(didr) + 1;
}
/// Number of watchpoint register pairs, from DBGDIDR.
constexpr unsigned watchpoint_count(std::uint32_t didr) {
    return Field<31, 28, unsigned>::get(didr) + 1;
}

inline constexpr std::uint32_t dscr_method = 0xf << 2; ///< DBGDSCR.MOE: the cause of the last event
inline constexpr std::uint32_t dscr_by_bkpt = 0b0011 << 2;
inline constexpr std::uint32_t dscr_by_watchpoint = 0b1010 << 2; ///< a synchronous watchpoint

inline constexpr std::uint32_t debug_enable = bit(0); ///< DBGBCR.E, DBGWCR.E
/// DBGBCR.BT: the breakpoint does not match alone, but is linked to others (context ID, VMID, both;
/// table C11-13).
constexpr bool is_linked(std::uint32_t control) {
    const unsigned type = Field<23, 20, unsigned>::get(control);
    return type == 0b0011 || type == 0b1001 || type == 0b1011;
}
inline constexpr std::uint32_t watches_hyp = bit(13);     ///< DBGWCR.HMC
inline constexpr std::uint32_t oslsr_locked = bit(1);     ///< DBGOSLSR.OSLK
inline constexpr std::uint32_t os_lock_key = 0xc5ac'ce55; ///< DBGOSLAR: locks

/// DBGBCR for an address match at `address` in any Non-secure PL1 or PL0 mode, Thumb-aware byte
/// select. With SSC 0b00 it would match in Secure state, too: where debug is permitted there, in
/// firmware that runs at that address.
constexpr std::uint32_t address_match(std::uint32_t address, bool thumb) {
    const std::uint32_t bas = !thumb ? 0xf : ((address & 2) != 0 ? 0xc : 0x3);
    constexpr std::uint32_t pmc_any = 3; // PL0 and PL1, with HMC 0
    constexpr std::uint32_t ssc_nonsecure = 1;
    return bit(0) | (pmc_any << 1) | (bas << 5) | (ssc_nonsecure << 14);
}
/// DBGBVR for `address`: bits 1:0 are zero; the byte select has them.
constexpr std::uint32_t address_value(std::uint32_t address) {
    return address & ~3u;
}

} // namespace mmioscope::arch
