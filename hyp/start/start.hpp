// How CPU 0 gets from Hyp with everything off to the guest's first instruction; no CPU executes
// anything of start/ after that. boot/boot.cpp calls these.
#pragma once

#include "entry/frame.hpp"
#include "machine/machine.hpp"
#include "start/setup.hpp"

namespace mmioscope {

/// For CPU 0, in any mode, with the MMU off: reads the device tree (at `r2`, or where a loader may
/// have put it; `machine.image` says where), and `board` from it.
BootError find_board(Machine& machine, Setup& setup, std::uint32_t r2);

/// For CPU 0 in Hyp, with the MMU off: builds the tables, starts the trace. If something cannot be
/// carried out, or find_board() has `failed`, prints why on the UART and halts. Returns the frame
/// for the guest's entry.
Frame start_machine(Machine& machine, Setup& setup, Cpu& cpu, const BootError& failed);

/// Calls the other CPUs into the hypervisor, where the boot loader left them waiting for a mailbox:
/// writes `entry` where CPUs 1 to `cpus` - 1 look for it, if `on` has such a place and no firmware.
void call_other_cpus(const Board& on, OwnBus& bus, unsigned cpus, PhysicalAddress entry);

} // namespace mmioscope
