// The system registers that this hypervisor uses. Each encoding is written once, here; only
// port/sysreg.hpp accesses the hardware. Sections are those of the ARM ARM, DDI 0406C.
#pragma once

#include <cstdint>

namespace mmioscope::reg {

/// A 32-bit register: MRC/MCR p<Coproc>, Opc1, Rt, c<Crn>, c<Crm>, Opc2.
template <unsigned Coproc, unsigned Opc1, unsigned Crn, unsigned Crm, unsigned Opc2>
struct Register32 {
    using Value = std::uint32_t;
    static constexpr unsigned coproc = Coproc, opc1 = Opc1, crn = Crn, crm = Crm, opc2 = Opc2;
};

/// A 64-bit register: MRRC/MCRR p<Coproc>, Opc1, Rt, Rt2, c<Crm>.
template <unsigned Coproc, unsigned Opc1, unsigned Crm>
struct Register64 {
    using Value = std::uint64_t;
    static constexpr unsigned coproc = Coproc, opc1 = Opc1, crm = Crm;
};

// Identification (B4.1).
using MIDR = Register32<15, 0, 0, 0, 0>;
using CTR = Register32<15, 0, 0, 0, 1>;
using MPIDR = Register32<15, 0, 0, 0, 5>;
using REVIDR = Register32<15, 0, 0, 0, 6>;
using ID_PFR1 = Register32<15, 0, 0, 1, 1>;
using VPIDR = Register32<15, 4, 0, 0, 0>;
using VMPIDR = Register32<15, 4, 0, 0, 5>;

// Control (B4.1).
using SCTLR = Register32<15, 0, 1, 0, 0>;
using ACTLR = Register32<15, 0, 1, 0, 1>;
using CPACR = Register32<15, 0, 1, 0, 2>;
using NSACR = Register32<15, 0, 1, 1, 2>;
using VBAR = Register32<15, 0, 12, 0, 0>;
using HSCTLR = Register32<15, 4, 1, 0, 0>;
using HCR = Register32<15, 4, 1, 1, 0>;
using HDCR = Register32<15, 4, 1, 1, 1>;
using HCPTR = Register32<15, 4, 1, 1, 2>;
using HSTR = Register32<15, 4, 1, 1, 3>;
using HVBAR = Register32<15, 4, 12, 0, 0>;
using HTPIDR = Register32<15, 4, 13, 0, 2>;

// Memory (B4.1): Hyp's stage 1 and the guest's stage 2.
using HTCR = Register32<15, 4, 2, 0, 2>;
using VTCR = Register32<15, 4, 2, 1, 2>;
using HMAIR0 = Register32<15, 4, 10, 2, 0>;
using HMAIR1 = Register32<15, 4, 10, 2, 1>;
using HTTBR = Register64<15, 4, 2>;
using VTTBR = Register64<15, 6, 2>;

// Address translation (B4.2.4): stage 1 of the present state, result in PAR.
using ATS1CPR = Register32<15, 0, 7, 8, 0>;
using ATS1CPW = Register32<15, 0, 7, 8, 1>;
using ATS1CUR = Register32<15, 0, 7, 8, 2>;
using ATS1CUW = Register32<15, 0, 7, 8, 3>;
using ATS1HW = Register32<15, 4, 7, 8, 1>; ///< of Hyp, for a write
using PAR = Register64<15, 0, 7>;

// Faults (B4.1).
using HSR = Register32<15, 4, 5, 2, 0>;
using HDFAR = Register32<15, 4, 6, 0, 0>;
using HIFAR = Register32<15, 4, 6, 0, 2>;
using HPFAR = Register32<15, 4, 6, 0, 4>;
using DFSR = Register32<15, 0, 5, 0, 0>;
using IFSR = Register32<15, 0, 5, 0, 1>;
using DFAR = Register32<15, 0, 6, 0, 0>;
using IFAR = Register32<15, 0, 6, 0, 2>;
using TTBR0 = Register32<15, 0, 2, 0, 0>;
using TTBR1 = Register32<15, 0, 2, 0, 1>;
using TTBCR = Register32<15, 0, 2, 0, 2>;

// Maintenance (B4.2.1, B4.2.2).
using TLBIALL = Register32<15, 0, 8, 7, 0>;       ///< this CPU, PL1&0 entries of the current VMID
using TLBIALLH = Register32<15, 4, 8, 7, 0>;      ///< this CPU, Hyp entries
using TLBIALLNSNH = Register32<15, 4, 8, 7, 4>;   ///< this CPU, PL1&0 entries of every VMID
using TLBIALLNSNHIS = Register32<15, 4, 8, 3, 4>; ///< all CPUs, PL1&0 entries of every VMID
using ICIALLU = Register32<15, 0, 7, 5, 0>;
using BPIALL = Register32<15, 0, 7, 5, 6>;    ///< the branch predictors
using ICIALLUIS = Register32<15, 0, 7, 1, 0>; ///< all CPUs
using DCCIMVAC =
    Register32<15, 0, 7, 14, 1>; ///< clean and invalidate data cache line to the point of coherency

// Threads (B4.1.147 and on).
using TPIDRURO = Register32<15, 0, 13, 0, 3>;
using TPIDRPRW = Register32<15, 0, 13, 0, 4>;

// Generic timer (B8.2).
using CNTFRQ = Register32<15, 0, 14, 0, 0>;
using CNTHCTL = Register32<15, 4, 14, 1, 0>;
using CNTPCT = Register64<15, 0, 14>;
using CNTVOFF = Register64<15, 4, 14>;

// Debug (C11.11).
using DBGDIDR = Register32<14, 0, 0, 0, 0>;
using DBGDSCR = Register32<14, 0, 0, 2, 2>; ///< DBGDSCRext
using DBGVCR = Register32<14, 0, 0, 7, 0>;
using DBGOSLAR = Register32<14, 0, 1, 0, 4>;
using DBGOSLSR = Register32<14, 0, 1, 1, 4>;
using DBGOSDLR = Register32<14, 0, 1, 3, 4>;
template <unsigned N>
using DBGBVR = Register32<14, 0, 0, N, 4>;
template <unsigned N>
using DBGBCR = Register32<14, 0, 0, N, 5>;
template <unsigned N>
using DBGWCR = Register32<14, 0, 0, N, 7>;

} // namespace mmioscope::reg
