// The way of nearly every access of a boot, in one screen: a load or store of one core register, to
// a device that is traced, with nothing optional on. What it needs lies ready; whatever else there
// is closes it, and then the slow path (trap/abort.hpp) does the same, and all else.
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Emulates the access that trapped, records it, and steps over its instruction; under shadow
/// begins, or ends, the step of one. False, with nothing done: it is for the slow path.
[[nodiscard]] bool take_fast_path(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
