// Host twin of hyp/core/port/barrier.hpp: simulates everything that a barrier waits for.
#pragma once

#include "sim/port.hpp"

namespace mmioscope::port {

inline void synchronize_context() {
    sim::synchronize_context();
}
inline void complete_local() {
    sim::complete_local();
}
inline void complete_all() {
    sim::complete_all();
}
inline void publish_tables() {
    sim::publish_tables();
}
inline void order_memory() {
    sim::order_memory();
}
inline void complete_system() {
    sim::complete_system();
}

} // namespace mmioscope::port
