// HVC and SMC: the guest calls the firmware, and the hypervisor is in between.
#pragma once

#include "arch/hsr.hpp"
#include "engine/engine.hpp"

namespace mmioscope {

/// Answers a call by the guest. On a board with PSCI firmware, by the conduit that the device tree
/// names, as the firmware would; a CPU is started and stopped through the hypervisor. Every other
/// call is an undefined instruction, as without Hyp and Monitor.
Outcome guest_call(Cpu& cpu, Frame& frame, arch::Hsr hsr);

} // namespace mmioscope
