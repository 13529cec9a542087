// The interrupt controller (GICv2, IHI 0048): it is the guest's. The hypervisor touches it only
// to hand it over, and to let a sleeping CPU be woken.
#pragma once

#include "board/board.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

/// From Secure state: makes every interrupt Group 1 and lets Non-secure software use the whole
/// priority range, so that the guest owns the controller. Does nothing to one without the Security
/// Extensions, where Group 1 would silence it. Per CPU; CPU 0 (`primary`) does the shared part.
void give_gic_to_nonsecure(const Board& on, OwnBus& bus, bool primary);

/// From Hyp: lets interrupts reach this CPU, so that WFI ends.
void open_cpu_interface(const Board& on, OwnBus& bus);

} // namespace mmioscope
