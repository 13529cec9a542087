// Host twin of hyp/port/shared.hpp: the other side may run before and after each access, and sees
// stores as late and loads as early as the barriers allow (sim/weak_memory.hpp).
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

/// What is there is spoiled at once, and what is to be there comes at the end.
template <class T>
class SharedPayload {
public:
    explicit SharedPayload(T& to) : to_(to) {
        T spoiled;
        std::memset(&spoiled, 0xa5, sizeof spoiled);
        store(spoiled);
    }
    T* operator->() { return &fields_; }
    T& where() { return to_; }
    void end() { store(fields_); }

private:
    static constexpr std::size_t first_word = 4;

    void store(const T& from) {
        sim::store_payload(reinterpret_cast<char*>(&to_) + first_word,
                           reinterpret_cast<const char*>(&from) + first_word,
                           sizeof from - first_word);
    }

    T& to_;
    T fields_{};
};

template <class T>
inline T load_structure(const T& from) {
    T v;
    sim::load_payload(&v, &from, sizeof from);
    return v;
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
