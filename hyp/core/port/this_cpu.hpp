// Which CPU executes this: HTPIDR points to its state, from entry to the end.
#pragma once

#include "port/sysreg.hpp"

namespace mmioscope::port {

inline void set_this_cpu(void* state) {
    write<reg::HTPIDR>(reinterpret_cast<std::uintptr_t>(state));
}
inline void* this_cpu() {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(read<reg::HTPIDR>()));
}

/// MPIDR.Aff0, 0 to max_cpus-1 on the supported boards, which have one cluster.
inline std::uint32_t cpu_number() {
    return read<reg::MPIDR>() & 0xff;
}

} // namespace mmioscope::port
