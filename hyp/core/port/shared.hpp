// Access to words that other CPUs, or a process that maps the guest's RAM, read and write at any
// time: one single-copy atomic access without further order (ARM ARM A3.5.3; 64 bits with LPAE).
#pragma once

#include <cstdint>
#include <type_traits>

namespace mmioscope::port {

template <class T>
inline T load_shared(const T& from) {
    if constexpr (sizeof(T) == 8) {
        std::uint64_t v;
        asm volatile("ldrd %Q0, %R0, %1" : "=r"(v) : "o"(from));
        return static_cast<T>(v);
    } else {
        return *const_cast<const volatile T*>(&from);
    }
}

// In assembly, since the compiler would store 64 bits by LDREXD and STREXD: a loop, and one that
// needs the caches on.
template <class T>
inline void store_shared(T& to, std::type_identity_t<T> value) {
    if constexpr (sizeof(T) == 8)
        asm volatile("strd %Q1, %R1, %0" : "=o"(to) : "r"(static_cast<std::uint64_t>(value)));
    else *const_cast<volatile T*>(&to) = value;
}

/// Copies a structure of such words, in any order and width.
template <class T>
inline void copy_shared(T& to, const T& from) {
    to = from;
    asm volatile("" ::: "memory"); // do not merge it with later stores to the same place
}

/// Reads such a structure as it is at the moment.
template <class T>
inline void load_structure(T& to, const T& from) {
    to = from;
    asm volatile("" ::: "memory"); // read all of it now
}

/// CLREX, after an LDREX whose STREX was not executed. Otherwise the guest would get the monitor,
/// and a store-exclusive elsewhere might succeed by it (ARM ARM A3.4.1, A3.4.5).
inline void clear_exclusive() {
    asm volatile("clrex" ::: "memory");
}

/// Replaces `expected` by `desired` atomically, with one try of LDREX and STREX and without further
/// order. False: the word had another value, or the monitor was lost. The monitor is clear
/// afterwards in either case.
inline bool exchange_if(std::uint32_t& word, std::uint32_t expected, std::uint32_t desired) {
    const bool done = __atomic_compare_exchange_n(&word, &expected, desired, true, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED);
    if (!done) clear_exclusive();
    return done;
}

} // namespace mmioscope::port
