// Barriers, named by what they order (ARM ARM A3.8.3).
#pragma once

namespace mmioscope::port {

/// Register writes before it are seen by all instructions after it.
inline void synchronize_context() {
    asm volatile("isb" ::: "memory");
}

/// This CPU's TLB and cache maintenance and memory accesses before it are complete.
inline void complete_local() {
    asm volatile("dsb nsh" ::: "memory");
}

/// As complete_local(), also for broadcast maintenance and for what other CPUs see.
inline void complete_all() {
    asm volatile("dsb ish" ::: "memory");
}

/// Table writes before it are seen by all CPUs' table walks after it.
inline void publish_tables() {
    asm volatile("dsb ishst" ::: "memory");
}

/// All CPUs see memory accesses before it before those after it.
inline void order_memory() {
    asm volatile("dmb ish" ::: "memory");
}

/// Memory and device accesses before it are complete, also for observers on the bus (a host that
/// maps the guest's RAM, a device that is about to end the machine).
inline void complete_system() {
    asm volatile("dsb sy" ::: "memory");
}

} // namespace mmioscope::port
