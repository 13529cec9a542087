// Which CPU executes this: HTPIDR points to its state, from entry to the end.
#pragma once

#include "arch/clusters.hpp"
#include "port/sysreg.hpp"

#include <bit>

extern "C" std::uint32_t mmioscope_clusters; // boot/start.S; an arch::Clusters

namespace mmioscope::port {

inline void set_this_cpu(void* state) {
    write<reg::HTPIDR>(reinterpret_cast<std::uintptr_t>(state));
}
inline void* this_cpu() {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(read<reg::HTPIDR>()));
}

/// The number of this CPU, also before there is a machine: 0 to max_cpus - 1.
inline std::uint32_t cpu_number() {
    return std::bit_cast<arch::Clusters>(mmioscope_clusters).number_of(read<reg::MPIDR>());
}

} // namespace mmioscope::port
