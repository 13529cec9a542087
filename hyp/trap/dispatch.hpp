// Every way from the guest into Hyp, and the one way back.
#pragma once

#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// The guest trapped: entry/vectors.S calls this with `frame` saved, and returns to the guest with
/// what is in `frame` afterwards.
void guest_trap(Cpu& cpu, Frame& frame);

/// Stops the machine unless VTTBR holds what it should, and no shadow table is open and no lock
/// held but for a step. Before every ERET to the guest, its first one too.
void check_way_back(const Cpu& cpu);

} // namespace mmioscope

extern "C" void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame);
