// The CPUs that the device tree names (Devicetree Specification 0.4, 3.8).
#pragma once

#include "dt/tree.hpp"

namespace mmioscope {

/// Sets `count` to the number of CPUs, without failed ones. A CPU's number is its MPIDR.Aff0,
/// already before it has a stack (boot/start.S); `reg` has its MPIDR. It is an error if the numbers
/// are not 0 to `count` - 1, each once; two clusters have them twice.
BootError count_cpus(const Tree& tree, unsigned& count);

} // namespace mmioscope
