// Every way from the guest into Hyp, and the one way back.
#pragma once

#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// The guest trapped: entry/vectors.S calls this with `frame` saved, and returns to the guest with
/// what is in `frame` afterwards.
void guest_trap(Cpu& cpu, Frame& frame);

} // namespace mmioscope

extern "C" void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame);
