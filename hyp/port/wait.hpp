// Waiting, and the end of everything.
#pragma once

namespace mmioscope::port {

/// One turn of a waiting loop.
inline void relax() {
    asm volatile("yield" ::: "memory");
}

/// Sleeps until an interrupt is pending for this CPU, masked or not (ARM ARM B1.8.14).
inline void wait_for_interrupt() {
    asm volatile("dsb\n\twfi" ::: "memory");
}

/// The same with this CPU out of the coherency domain, and none of its lines left in its caches, as
/// its power may be taken away (Cortex-A15 TRM 2.4.3). Back in it when this returns;
/// its TLBs and instruction cache have missed what was broadcast meanwhile.
void wait_outside_coherency();

/// Stops this CPU for good.
[[noreturn]] inline void halt() {
    for (;;) asm volatile("cpsid aif\n\twfi" ::: "memory");
}

} // namespace mmioscope::port
