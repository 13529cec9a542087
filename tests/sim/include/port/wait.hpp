// Host twin of hyp/core/port/wait.hpp: waiting lets the other CPUs run, halting ends this one.
#pragma once

#include "sim/port.hpp"

namespace mmioscope::port {

inline void relax() {
    sim::relax();
}
inline void wait_for_interrupt() {
    sim::wait_for_interrupt();
}
inline void wait_for_event() {
    sim::wait_for_interrupt(); // an interrupt is an event, too
}
inline void send_event() {
    sim::send_event();
}
inline void wait_outside_coherency() {
    sim::wait_outside_coherency();
}
[[noreturn]] inline void halt() {
    sim::halt();
}

} // namespace mmioscope::port
