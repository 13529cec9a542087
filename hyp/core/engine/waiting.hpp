// Reports a region's lock that is not given back (machine/lock_wait.hpp).
#pragma once

#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// The locks of `access` were not free in time. Once per wait, after two seconds, publishes a
/// record that names the access, the region, and the CPU that holds the lock.
void tell_of_wait(Cpu& cpu, const Frame& frame, const DeviceAccess& access);

} // namespace mmioscope
