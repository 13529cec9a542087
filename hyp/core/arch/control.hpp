// Bits of the Hyp control registers, and the values this hypervisor gives them.
#pragma once

#include "base/field.hpp"

namespace mmioscope::arch {

// HCR (ARM ARM B4.1.65).
inline constexpr std::uint32_t hcr_vm = bit(0); ///< stage 2 on
inline constexpr std::uint32_t hcr_swio =
    bit(1); ///< invalidating by set/way also cleans: the guest must not drop Hyp's dirty lines
inline constexpr std::uint32_t hcr_tsc =
    bit(19); ///< SMC traps: otherwise CPU_ON would start a CPU outside the hypervisor
inline constexpr std::uint32_t hcr_twi = bit(13); ///< WFI traps
inline constexpr std::uint32_t hcr_tac = bit(21); ///< the guest's use of ACTLR traps
/// The guest has interrupts (IMO=FMO=AMO=0), WFE, WFI (without a stream), and its CP15 registers
/// (except ACTLR, if it could write that: guest/reset.hpp).
inline constexpr std::uint32_t hcr_guest = hcr_vm | hcr_swio | hcr_tsc;

// ACTLR.SMP: the CPU takes part in coherency. NSACR: who may write it (system control in the TRMs
// of Cortex-A15 and A7). In Non-secure state all other bits of ACTLR ignore writes.
inline constexpr std::uint32_t actlr_smp = bit(6);
inline constexpr std::uint32_t nsacr_ns_smp = bit(18); ///< Non-secure state may write ACTLR.SMP
inline constexpr std::uint32_t pfr1_security = 0xf0;   ///< ID_PFR1: without it there is no NSACR
inline constexpr std::uint32_t pfr1_virtualization = 0xf000; ///< without it there is no Hyp

/// CTR.L1Ip (B4.1.42): instruction caches go by physical address.
inline constexpr std::uint32_t ctr_code_by_pa = bit(15);

// HDCR (B4.1.66).
inline constexpr std::uint32_t hdcr_tde = bit(8); ///< debug exceptions go to Hyp
inline constexpr std::uint32_t hdcr_tda = bit(9); ///< CP14 debug accesses trap
inline constexpr std::uint32_t hdcr_tdosa = bit(10);
inline constexpr std::uint32_t hdcr_tdra = bit(11);
inline constexpr std::uint32_t hdcr_accesses = hdcr_tda | hdcr_tdosa | hdcr_tdra;
/// While Hyp owns the debug unit. TDE requires the three others.
inline constexpr std::uint32_t hdcr_hyps = hdcr_tde | hdcr_accesses;

/// HSTR, all bits (B1.14.12): the guest's accesses to CP15 trap by their CRn (MRRC and MCRR: CRm).
/// T4 and T14 are reserved, so c14, the generic timer, does not trap.
inline constexpr std::uint32_t hstr_cp15 = 0xbfef;
/// HSTR.T12: VBAR traps, and ISR.
inline constexpr std::uint32_t hstr_vbar = bit(12);

// HSCTLR (B4.1.75).
inline constexpr std::uint32_t hsctlr_m = bit(0);
inline constexpr std::uint32_t hsctlr_c = bit(2);
inline constexpr std::uint32_t hsctlr_i = bit(12);
inline constexpr std::uint32_t hsctlr_wxn = bit(19);
inline constexpr std::uint32_t hsctlr_res1 = 0x30c5'0878; ///< bits that read as one
/// Alignment checking (bit 1) stays off: the C library's memcpy() may use words at any address.
inline constexpr std::uint32_t hsctlr_on =
    hsctlr_res1 | hsctlr_m | hsctlr_c | hsctlr_i | hsctlr_wxn;

// Use of VFP and NEON: HCPTR (B4.1.64), CPACR (B4.1.40), FPEXC (B4.1.57), MVFR0 (B4.1.110).
inline constexpr std::uint32_t hcptr_vfp = bit(10) | bit(11); ///< coprocessors 10 and 11 trap
inline constexpr std::uint32_t cpacr_d32dis = bit(30);
inline constexpr std::uint32_t fpexc_en = bit(30);
inline constexpr std::uint32_t mvfr0_registers = 0xf;
inline constexpr std::uint32_t mvfr0_d32 = 2; ///< there are D0 to D31, not only D0 to D15

// SCTLR of the guest (B4.1.130).
inline constexpr std::uint32_t sctlr_v = bit(13);  ///< high vectors
inline constexpr std::uint32_t sctlr_ee = bit(25); ///< exceptions are taken big-endian
inline constexpr std::uint32_t sctlr_te = bit(30); ///< exceptions are taken in Thumb state
/// The guest's value at reset (Cortex-A15 TRM table 4-2): MMU and caches off, low vectors.
inline constexpr std::uint32_t sctlr_reset = 0x00c5'0078;

/// VTCR and HTCR: 32-bit input, walks Inner Shareable Write-Back Write-Allocate, start at
/// level 1 (B4.1.159, B4.1.76).
inline constexpr std::uint32_t vtcr = bit(31) | (3u << 12) | (1u << 10) | (1u << 8) | (1u << 6);
inline constexpr std::uint32_t htcr = bit(31) | bit(23) | (3u << 12) | (1u << 10) | (1u << 8);
static_assert(vtcr == 0x8000'3540);

/// HMAIR0: index 0 Device, index 1 Normal Write-Back Write-Allocate, index 2 Normal Non-cacheable
/// (B4.1.71).
inline constexpr std::uint32_t hmair0 = 0x0044'ff04;

} // namespace mmioscope::arch
