// The guest re-executes the instruction that trapped, in a step (machine/stepping.hpp). This begins
// and ends the record of it. The engine decides in which view that is.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

/// First half, as DeviceOps::make(); `view` lets cpu.trapped.access through.
Outcome begin_step(Cpu& cpu, Frame& frame, const View& view);

/// Second half, as DeviceOps::finish().
bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
