// Finds out what the trapped instruction does with the device.
#pragma once

#include "abi/record.hpp"
#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// What an access is before anything is known of it. GCC copies it in place, because it has no
/// padding and its value is not visible; else it would call functions to build it.
extern const DeviceAccess no_access;
static_assert(sizeof(void*) != 4 || sizeof(DeviceAccess) == 40);

/// Completes `access` from the syndrome (HSR) if that describes everything, else from the
/// instruction; puts several accesses of one instruction in cpu.step.beats. Returns
/// FaultReason::none, or why the access cannot be carried out: the instruction cannot be read, is
/// no load or store, or loads PC.
abi::FaultReason decode_access(Cpu& cpu, const Frame& frame, arch::Hsr hsr, DeviceAccess& access);

} // namespace mmioscope
