// How each CPU gets from Hyp to the guest, once there is a machine. boot/boot.cpp calls these;
// CPU 0 is prepared by start/start.cpp.
#pragma once

#include "entry/frame.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

/// Prepares this CPU, whose stage 1 is on: what it keeps, the guest's registers, its breakpoints,
/// stage 2.
void prepare_cpu(Machine& machine, Cpu& cpu);

/// For any other CPU after start_machine(): sleeps until the guest starts it by a register of the
/// board.
Frame start_parked(Machine& machine, Cpu& cpu);

/// For a CPU that firmware started at the guest's request, with its MMU off.
Frame start_by_firmware(Machine& machine, Cpu& cpu);

} // namespace mmioscope
