// The interrupt controller (GICv2, IHI 0048) belongs to the guest. The hypervisor accesses it only
// to hand it over, and so that an interrupt can wake a sleeping CPU.
#pragma once

#include "board/board.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

/// From Secure state: makes every interrupt Group 1, and gives Non-secure software the whole range
/// of priorities, so that the guest owns the controller. Does nothing if the GIC has no Security
/// Extensions, where Group 1 would silence it. Called by each CPU; CPU 0 (`primary`) does the
/// shared part.
void give_gic_to_nonsecure(const Board& on, OwnBus& bus, bool primary);

/// From Hyp: lets interrupts reach this CPU, so that its WFI ends.
void open_cpu_interface(const Board& on, OwnBus& bus);

} // namespace mmioscope
