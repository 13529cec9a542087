// Host twin of hyp/port/barrier.hpp. The CPUs take turns, so memory needs no ordering; what
// the barriers do to translation is simulated.
#pragma once

#include "sim/port.hpp"

namespace mmioscope::port {

inline void synchronize_context() { sim::synchronize_context(); }
inline void complete_local() { sim::complete_local(); }
inline void complete_all() { sim::complete_all(); }
inline void publish_tables() { sim::point(); }
inline void order_memory() { sim::point(); }
inline void complete_system() { sim::point(); }

} // namespace mmioscope::port
