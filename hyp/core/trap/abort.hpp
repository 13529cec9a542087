// Stage-2 aborts: the guest accessed a page that is invalid in its table.
#pragma once

#include "arch/hsr.hpp"
#include "engine/engine.hpp"

namespace mmioscope {

/// Handles a stage-2 data abort: carries the access out, or records why not and gives the guest an
/// abort.
Outcome data_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr);
/// Handles a stage-2 prefetch abort: records it and gives the guest a prefetch abort.
Outcome prefetch_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
