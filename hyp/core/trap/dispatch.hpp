// The slow path's entry from the guest into Hyp, and its way back.
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Called once in a trap if Machine::at_turn is set: its turn(), unless this is not the time.
void give_turn(Cpu& cpu);

/// Stops the machine unless VTTBR has its proper value, and a shadow table is open and locks are
/// held only for a step. Called after the slow path, and before a CPU's first ERET to the guest.
void check_way_back(const Cpu& cpu);

} // namespace mmioscope

/// entry/fast_path.S calls this for a trap that it does not handle, with `frame` saved, and returns
/// to the guest with the contents of `frame`.
extern "C" void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame);
