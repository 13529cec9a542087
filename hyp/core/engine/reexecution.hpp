// A step: the guest re-executes the instruction that trapped, between two traps. This arms, ends
// and records it. The engine decides which table lets the access through.
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// First half, with the locks of cpu.step.access held. When the engine has opened the page too, the
/// guest may resume: it executes the instruction at PC, and traps after it, or wherever it leads.
void begin_step(Cpu& cpu, Frame& frame);

/// Second half, at any trap while a step is armed, after the page was closed. True if the step
/// caused the trap, so the guest goes on at PC; otherwise the trap must still be handled.
bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
