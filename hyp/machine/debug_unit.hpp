// The breakpoint unit, borrowed from the guest for the length of one instruction
// (ARM ARM C3.2, C11; HDCR in B4.1.66).
#pragma once

#include "machine/step.hpp"

namespace mmioscope {

/// Readies this CPU's debug unit: no breakpoint is left over from reset; the OS lock stays as it
/// was. False if it cannot be used: too few breakpoints, an external debugger owns it, or DBGEN is
/// tied low.
[[nodiscard]] bool start_debug_unit();

/// Whether the guest has a watchpoint on, so that an access must be its own for it to fire.
[[nodiscard]] bool guest_watches();

/// Stops the guest in Hyp when it reaches `next_pc` (in its current instruction set) or one of
/// its undefined, prefetch abort and data abort vectors, or when its own watchpoint fires. Until
/// disarmed, its debug registers trap; what was in them is in `borrowed`.
void arm_breakpoints(BorrowedDebug& borrowed, std::uint32_t next_pc, bool thumb);
/// Gives the guest its registers back.
void disarm_breakpoints(const BorrowedDebug& borrowed);

} // namespace mmioscope
