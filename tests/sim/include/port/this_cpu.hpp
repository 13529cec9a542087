// Host twin of hyp/core/port/this_cpu.hpp.
#pragma once

#include "sim/port.hpp"

#include <cstdint>

namespace mmioscope::port {

inline void set_this_cpu(void* state) {
    sim::this_cpu() = state;
}
inline void* this_cpu() {
    return sim::this_cpu();
}
inline std::uint32_t cpu_number() {
    return sim::cpu_number();
}

} // namespace mmioscope::port
