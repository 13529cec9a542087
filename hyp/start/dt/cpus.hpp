// The CPUs that the device tree names (Devicetree Specification 0.4, 3.8).
#pragma once

#include "arch/clusters.hpp"
#include "dt/tree.hpp"

#include <optional>

namespace mmioscope {

/// Sets `out` to the CPUs, without failed ones. `boot` is the MPIDR of CPU 0; if it is empty, CPU 0
/// is in the cluster of the tree's first CPU. `reg` has a CPU's Aff1 and Aff0; if the tree has only
/// one cluster, it counts as CPU 0's. It is an error if these do not give each CPU a number of its
/// own, from 0 on without gaps, or if there are two clusters and no firmware that starts CPUs.
BootError read_cpus(const Tree& tree, std::optional<std::uint32_t> boot, arch::Clusters& out);

} // namespace mmioscope
