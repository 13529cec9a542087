// ACTLR.SMP, by which a CPU takes part in coherency, in exclusives between CPUs, and in broadcast
// maintenance. Hyp's locks and rings need all three, so where firmware lets the guest write it
// (NSACR.NS_SMP) the guest's use of ACTLR traps, and the bit stays set while the CPU runs.
//
// A guest clears it before it has the CPU powered down (Linux' MCPM), and then it must be clear, or
// the others' requests go to a CPU that is off. The last instruction of such a power-down is WFI.
// So what the guest has cleared is cleared in hardware there, and nowhere else: at WFI, which traps
// from then on, behind Hyp's own lines. A call to PSCI firmware needs nothing of it: leaving the
// domain is the firmware's part of CPU_OFF and CPU_SUSPEND (Arm DEN 0022), as is coming back.
#pragma once

#include <cstdint>

namespace mmioscope {

/// HCR for this CPU's guest. `wfi_traps`: WFI does.
std::uint32_t guest_hcr(bool wfi_traps);

} // namespace mmioscope
