// Host twin of hyp/port/shared.hpp: the other side may run before and after each access.
#pragma once

#include "sim/port.hpp"

#include <type_traits>

namespace mmioscope::port {

template <class T>
inline T load_shared(const T& from) {
    sim::point();
    return __atomic_load_n(&from, __ATOMIC_RELAXED);
}

template <class T>
inline void store_shared(T& to, std::type_identity_t<T> value) {
    sim::point();
    __atomic_store_n(&to, value, __ATOMIC_RELAXED);
}

template <class T>
inline void copy_shared(T& to, const T& from) {
    sim::point();
    to = from;
}

inline bool exchange_if(std::uint32_t& word, std::uint32_t expected, std::uint32_t desired) {
    sim::point();
    return __atomic_compare_exchange_n(&word, &expected, desired, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

} // namespace mmioscope::port
