// Waiting, and halting.
#pragma once

namespace mmioscope::port {

/// One turn of a loop that waits.
inline void relax() {
    asm volatile("yield" ::: "memory");
}

/// Sleeps until an interrupt is pending for this CPU, masked or not (ARM ARM B1.8.14).
inline void wait_for_interrupt() {
    asm volatile("dsb\n\twfi" ::: "memory");
}

/// Sleeps until there is an event: another CPU's SEV, or an interrupt (ARM ARM B1.8.13).
inline void wait_for_event() {
    asm volatile("wfe" ::: "memory");
}

/// An event for all CPUs, after everything before it.
inline void send_event() {
    asm volatile("dsb\n\tsev" ::: "memory");
}

/// wait_for_interrupt() with this CPU out of the coherency domain and its level-1 cache empty,
/// since its power may be taken away (Cortex-A15 TRM 2.4.3). When it returns, the CPU is in the
/// domain again, but its TLBs and instruction cache have missed what was broadcast meanwhile.
void wait_outside_coherency();

/// Stops this CPU for good.
[[noreturn]] inline void halt() {
    for (;;) asm volatile("cpsid aif\n\twfi" ::: "memory");
}

} // namespace mmioscope::port
