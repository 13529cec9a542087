// Tells readers what the tasks are called that make the accesses, where the boot loader has said
// how the guest's kernel keeps that (`mmioscope,task-names`).
#pragma once

#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// To be called before `access` is carried out, with no lock held: publishes a `task` record if
/// this CPU has not said yet what the current task is called, not for a second, or if that has
/// changed. It looks into the guest's memory once in a millisecond for each task at most.
void tell_task(Cpu& cpu, const Frame& frame, const DeviceAccess& access);

} // namespace mmioscope
