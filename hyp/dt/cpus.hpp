// The CPUs that the device tree names (Devicetree Specification 0.4, 3.8).
#pragma once

#include "dt/tree.hpp"

namespace mmioscope {

/// Writes to `count` how many there are, the failed ones left out. A CPU's number is its
/// MPIDR.Aff0, as soon as it has no stack yet (boot/start.S), and `reg` has its MPIDR: an error
/// unless the numbers are 0 to `count` - 1, each once. Two clusters have them twice.
BootError count_cpus(const Tree& tree, unsigned& count);

} // namespace mmioscope
