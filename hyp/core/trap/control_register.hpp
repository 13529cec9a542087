// The guest's accesses to CP15 that trap: those to ACTLR on some boards (guest/coherency.hpp), and
// to VBAR while breakpoints are at the guest's vectors (machine/debug_unit.hpp).
#pragma once

#include "arch/hsr.hpp"
#include "engine/engine.hpp"

namespace mmioscope {

/// Carries out an MCR or MRC of ACTLR; lets the guest make any other access itself.
Outcome control_register(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
