// Host twin of hyp/core/port/vector.hpp.
#pragma once

#include "sim/port.hpp"

#include <cstdint>

namespace mmioscope::port {

inline std::uint32_t vector_control() {
    return sim::vector_control();
}
inline std::uint32_t vector_features() {
    return sim::vector_features();
}
inline std::uint64_t vector_doubleword(unsigned n) {
    return sim::vector_doubleword(n);
}

} // namespace mmioscope::port
