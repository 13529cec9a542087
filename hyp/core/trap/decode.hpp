// Finds out what the trapped instruction does with the device.
#pragma once

#include "abi/record.hpp"
#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Completes `access` from the syndrome (HSR) if that describes everything, else from the
/// instruction; puts several accesses of one instruction in cpu.step.beats. Returns
/// FaultReason::none, or why the access cannot be carried out: the instruction cannot be read, is
/// no load or store, or loads PC.
abi::FaultReason decode_access(Cpu& cpu, const Frame& frame, arch::Hsr hsr, DeviceAccess& access);

} // namespace mmioscope
