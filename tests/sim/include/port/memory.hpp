// Host twin of hyp/core/port/memory.hpp: simulated physical addresses on one side, host pointers on
// the other.
#pragma once

#include "base/address.hpp"
#include "port/barrier.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "sim/port.hpp"

#include <cstddef>

namespace mmioscope::port {

template <class T>
inline T* memory_at(PhysicalAddress address) {
    return static_cast<T*>(sim::memory_at(address));
}

inline PhysicalAddress address_of(const void* object) {
    return sim::address_of(object);
}

inline void store_descriptor(std::uint64_t* entry, std::uint64_t value) {
    sim::store_descriptor(entry, value);
}

inline void store_half(std::uint64_t& entry, bool upper, std::uint64_t value) {
    sim::store_half(entry, upper, value);
}

inline bool exchange_descriptor(std::uint64_t* entry, std::uint64_t& expected,
                                std::uint64_t value) {
    return sim::exchange_descriptor(entry, expected, value);
}

inline void flush_to_coherency(PhysicalAddress begin, std::size_t size) {
    sim::flush_to_coherency(begin, size);
}
inline void flush_word_to_coherency(PhysicalAddress at) {
    sim::flush_to_coherency(at, sizeof(std::uint32_t));
}

/// The simulated caches are coherent: tests/layout.sh checks the order of the real function.
inline void mmu_on(std::uint32_t hsctlr, PhysicalAddress) {
    write<reg::HSCTLR>(hsctlr);
    synchronize_context();
}

} // namespace mmioscope::port
