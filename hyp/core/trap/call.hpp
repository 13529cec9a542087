// HVC and SMC: the guest's calls of firmware, which the hypervisor passes on or answers.
#pragma once

#include "arch/hsr.hpp"
#include "engine/engine.hpp"

namespace mmioscope {

/// Answers a call of the guest. On a board with PSCI firmware, a call by the conduit that the
/// device tree names gets the firmware's answer; CPUs start and stop through the hypervisor. Any
/// other call is an undefined instruction, as without Hyp and Monitor.
Outcome guest_call(Cpu& cpu, Frame& frame, arch::Hsr hsr);

/// Publishes a `power` record of this CPU; `pa` as in abi::PowerEvent.
void record_power(Cpu& cpu, abi::PowerEvent event, std::uint32_t pa);

} // namespace mmioscope
