// How a CPU gets from Hyp to the guest. boot/boot.cpp calls these.
#pragma once

#include "entry/frame.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

/// For CPU 0, in any mode, with the MMU off: reads the device tree (at `r2`, or where a loader may
/// have put it; `machine.image` says where), and `board` from it.
BootError find_board(Machine& machine, std::uint32_t r2);

/// For CPU 0 in Hyp, with the MMU off: builds the tables, starts the trace. If something cannot be
/// carried out, or find_board() has `failed`, prints why on the UART and halts. Returns the frame
/// for the guest's entry.
Frame start_machine(Machine& machine, Cpu& cpu, const BootError& failed);

/// For any other CPU after start_machine(): sleeps until the guest starts it by a register of the
/// board.
Frame start_parked(Machine& machine, Cpu& cpu);

/// For a CPU that firmware started at the guest's request, with its MMU off.
Frame start_by_firmware(Machine& machine, Cpu& cpu);

} // namespace mmioscope
