// The CPU as the guest finds it: after reset, in Supervisor mode, with Hyp behind it.
#pragma once

#include "entry/frame.hpp"

namespace mmioscope {

/// Sets the Hyp controls and the guest's system registers of this CPU; UNKNOWN ones after reset
/// get their reset values (ARM ARM B1.9.1). Stage 2 is on afterwards.
void reset_guest_state();

/// The registers to start with: `entry` in ARM or Thumb state by its bit 0, r0 to r2 as given.
Frame guest_start_frame(std::uint32_t entry, std::uint32_t r0, std::uint32_t r1, std::uint32_t r2);

} // namespace mmioscope
