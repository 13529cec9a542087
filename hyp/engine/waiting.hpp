// Waiting for a region's lock that is not given back (machine/lock_wait.hpp).
#pragma once

#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// The locks of `access` could not be had. Once for each wait that has come to two seconds, a
/// record names the access, the region, and the CPU that has its lock.
void tell_of_wait(Cpu& cpu, const Frame& frame, const DeviceAccess& access);

} // namespace mmioscope
