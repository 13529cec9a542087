// Follows the guest from a load-exclusive that was stepped to its store-exclusive.
//
// CLREX does not trap. Where a store-exclusive traps before the CPU's monitor is asked (A8.8.212),
// and exceptions clear that monitor, no register says whether the guest has executed CLREX in
// between, on its own or in a handler. So Hyp reads the code behind the load. Up to the first
// instruction that is not plain (arch/flow.hpp) the guest runs with A, I and F masked into a
// breakpoint; a branch is carried out by Hyp; at the store-exclusive Hyp carries on as if it had
// trapped, since nothing has cleared the monitor. So such a loop also ends on a CPU whose monitor
// is asked first, but lost in the load's trap.
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// The step of a load-exclusive has ended: follows the guest, if it is behind the instruction.
void follow_load_exclusive(Cpu& cpu, Frame& frame);

/// Another access on the way has trapped at `pc`, and was handled.
void keep_following(Cpu& cpu, Frame& frame, std::uint32_t pc);

} // namespace mmioscope
