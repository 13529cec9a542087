// Writes the names of the tasks that make accesses to the trace, if the boot loader has said where
// the guest's kernel keeps them (`mmioscope,task-names`).
#pragma once

#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Called before `access` is carried out, with no lock held. Publishes a `task` record if this CPU
/// has not published the current task's name within the last second, or if the name has changed.
/// Reads the guest's memory at most once in a millisecond per task.
void tell_task(Cpu& cpu, const Frame& frame, const DeviceAccess& access);

} // namespace mmioscope
