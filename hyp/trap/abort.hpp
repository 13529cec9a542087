// Stage-2 aborts: the guest touched a page its table leaves invalid.
#pragma once

#include "arch/hsr.hpp"
#include "engine/engine.hpp"

namespace mmioscope {

Outcome data_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr);
Outcome prefetch_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
