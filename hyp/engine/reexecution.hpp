// The guest carries out the trapped instruction itself, between two traps: what is armed for it,
// and what is recorded of it. Which table lets it through is the engine's choice.
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// First half, with the locks of the access held. Once its page is open the guest may resume: it
/// executes the instruction at PC, and traps behind it or where that leads.
void begin_step(Cpu& cpu, Frame& frame, const DeviceAccess& access);

/// Second half, at any trap taken while a step is armed, with the page closed again. True if the
/// trap was of the step's own making, so that the guest goes on at PC; otherwise it is still to be
/// handled.
bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
