// The guest's MCR and MRC that trap: those of ACTLR (guest/coherency.hpp).
#pragma once

#include "arch/hsr.hpp"
#include "engine/engine.hpp"

namespace mmioscope {

/// CP15, by MCR or MRC.
Outcome control_register(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
