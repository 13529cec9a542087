// Host twin of hyp/port/memory.hpp: simulated physical addresses on one side, host pointers on the
// other.
#pragma once

#include "base/address.hpp"
#include "port/shared.hpp"
#include "sim/port.hpp"

#include <cstddef>

namespace mmioscope::port {

template <class T>
inline T* memory_at(PhysicalAddress address) {
    return static_cast<T*>(sim::memory_at(address));
}

inline PhysicalAddress address_of(const void* object) { return sim::address_of(object); }

inline void store_descriptor(std::uint64_t* entry, std::uint64_t value) {
    sim::store_descriptor(entry, value);
}

inline bool exchange_descriptor(std::uint64_t* entry, std::uint64_t& expected,
                                std::uint64_t value) {
    return sim::exchange_descriptor(entry, expected, value);
}

inline void flush_to_coherency(PhysicalAddress, std::size_t) { sim::point(); }

} // namespace mmioscope::port
