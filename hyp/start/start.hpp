// The ways a CPU gets from Hyp to the guest. boot/boot.cpp calls them.
#pragma once

#include "entry/frame.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

/// CPU 0, MMU off: reads the device tree (at `r2`, or where a loader may have put it), builds the
/// tables, starts the trace. What cannot be carried out is said on the UART, and nothing runs.
Frame start_machine(Machine& machine, Cpu& cpu, std::uint32_t r2);

/// Any other CPU, once start_machine() is through: sleeps until the guest starts it by a register
/// of the board.
Frame start_parked(Machine& machine, Cpu& cpu);

/// A CPU that firmware started because the guest asked for it, with its MMU off.
Frame start_by_firmware(Machine& machine, Cpu& cpu);

} // namespace mmioscope
