// The state in which the guest finds the CPU: after reset, in Supervisor mode, under Hyp.
#pragma once

#include "entry/frame.hpp"

namespace mmioscope {

/// Sets this CPU's Hyp controls and the guest's system registers. Those that are UNKNOWN after
/// reset get their reset values (ARM ARM B1.9.1). Stage 2 is on afterwards.
void reset_guest_state();

/// The value of HCR for this CPU's guest. `wfi_traps`: WFI traps.
///
/// ACTLR.SMP makes a CPU take part in coherency, in exclusives between CPUs, and in broadcast
/// maintenance. Hyp's locks and rings need all three. So if firmware lets the guest write the bit
/// (NSACR.NS_SMP), the guest's use of ACTLR traps, and the bit stays set while the CPU runs.
///
/// A guest clears it before it powers the CPU down (Linux' MCPM). It must be clear then, or other
/// CPUs would send requests to a CPU that is off. The last instruction of such a power-down is WFI.
/// So once the guest has cleared the bit, WFI traps, and only there Hyp clears it in hardware,
/// after cleaning its own lines out of the caches. PSCI calls need nothing of this: leaving the
/// domain is the firmware's part of CPU_OFF and CPU_SUSPEND (Arm DEN 0022), and so is coming back.
std::uint32_t guest_hcr(bool wfi_traps);

/// The guest's first registers: `entry` with its state in bit 0 (1: Thumb), r0 to r2 as given.
Frame guest_start_frame(std::uint32_t entry, std::uint32_t r0, std::uint32_t r1, std::uint32_t r2);

} // namespace mmioscope
