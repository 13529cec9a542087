// ACTLR.SMP makes a CPU take part in coherency, in exclusives between CPUs, and in broadcast
// maintenance. Hyp's locks and rings need all three. So if firmware lets the guest write the bit
// (NSACR.NS_SMP), the guest's use of ACTLR traps, and the bit stays set while the CPU runs.
//
// A guest clears it before it powers the CPU down (Linux' MCPM). It must be clear then, or other
// CPUs would send requests to a CPU that is off. The last instruction of such a power-down is WFI.
// So once the guest has cleared the bit, WFI traps, and only there Hyp clears it in hardware, after
// cleaning its own lines out of the caches. PSCI calls need nothing of this: leaving the domain is
// the firmware's part of CPU_OFF and CPU_SUSPEND (Arm DEN 0022), and so is coming back.
#pragma once

#include <cstdint>

namespace mmioscope {

/// The value of HCR for this CPU's guest. `wfi_traps`: WFI traps.
std::uint32_t guest_hcr(bool wfi_traps);

} // namespace mmioscope
