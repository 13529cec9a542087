// The state in which the guest finds the CPU: after reset, in Supervisor mode, under Hyp.
#pragma once

#include "entry/frame.hpp"

namespace mmioscope {

/// Sets this CPU's Hyp controls and the guest's system registers. Those that are UNKNOWN after
/// reset get their reset values (ARM ARM B1.9.1). Stage 2 is on afterwards.
void reset_guest_state();

/// The guest's first registers: `entry` with its state in bit 0 (1: Thumb), r0 to r2 as given.
Frame guest_start_frame(std::uint32_t entry, std::uint32_t r0, std::uint32_t r1, std::uint32_t r2);

} // namespace mmioscope
