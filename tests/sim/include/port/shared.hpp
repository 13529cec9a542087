// Host twin of hyp/core/port/shared.hpp: the other side may run before and after each access. Stores
// become visible as late, and loads happen as early, as the barriers allow (sim/weak_memory.hpp).
#pragma once

#include "sim/port.hpp"

#include <cstring>
#include <type_traits>

namespace mmioscope::port {

template <class T>
inline T load_shared(const T& from) {
    return static_cast<T>(sim::load_word(&from, sizeof from));
}

template <class T>
inline void store_shared(T& to, std::type_identity_t<T> value) {
    sim::store_word(&to, static_cast<std::uint64_t>(value), sizeof to);
}

template <class T>
inline void copy_shared(T& to, const T& from) {
    sim::store_payload(&to, &from, sizeof from);
}

template <class T>
inline void load_structure(T& to, const T& from) {
    sim::load_payload(&to, &from, sizeof from);
}

inline void clear_exclusive() {
    sim::clear_exclusive();
}

inline bool exchange_if(std::uint32_t& word, std::uint32_t expected, std::uint32_t desired) {
    const bool done = sim::exchange(&word, expected, desired);
    if (!done) clear_exclusive();
    return done;
}

} // namespace mmioscope::port
