// Calls the other CPUs into the hypervisor, where the boot loader left them waiting for a mailbox.
#pragma once

#include "board/board.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

/// Writes `entry` where CPUs 1 to `cpus` - 1 look for it, if `on` has such a place and
/// no firmware.
void call_other_cpus(const Board& on, OwnBus& bus, unsigned cpus, PhysicalAddress entry);

} // namespace mmioscope
