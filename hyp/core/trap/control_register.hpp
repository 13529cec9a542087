// The guest's MCR and MRC of ACTLR, which trap on some boards (guest/coherency.hpp).
#pragma once

#include "arch/hsr.hpp"
#include "engine/engine.hpp"

namespace mmioscope {

/// Carries out an MCR or MRC of CP15.
Outcome control_register(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
