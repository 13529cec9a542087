// Barriers, named by what they order (ARM ARM A3.8.3).
#pragma once

namespace mmioscope::port {

/// Register writes before it are seen by every instruction after it.
inline void synchronize_context() {
    asm volatile("isb" ::: "memory");
}

/// TLB and cache maintenance of this CPU before it is complete; so are its memory accesses.
inline void complete_local() {
    asm volatile("dsb nsh" ::: "memory");
}

/// Likewise for maintenance broadcast to all CPUs, and for what they see of ours.
inline void complete_all() {
    asm volatile("dsb ish" ::: "memory");
}

/// Table writes before it are seen by every CPU's table walks after it.
inline void publish_tables() {
    asm volatile("dsb ishst" ::: "memory");
}

/// Memory accesses before it are seen, by every CPU, before those after it.
inline void order_memory() {
    asm volatile("dmb ish" ::: "memory");
}

/// Device accesses and memory accesses before it are done before it ends: what others see
/// through the bus (a host that maps the guest's RAM, a device about to end the machine).
inline void complete_system() {
    asm volatile("dsb sy" ::: "memory");
}

} // namespace mmioscope::port
