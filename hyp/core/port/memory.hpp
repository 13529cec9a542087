// Physical memory as Hyp sees it: at its own address, the hypervisor's as Write-Back, the guest's as
// Normal Non-cacheable, devices as Device.
#pragma once

#include "base/address.hpp"
#include "port/barrier.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"

#include <cstddef>

namespace mmioscope::port {

/// The memory at `address`, which must be memory of the device tree or the hypervisor's own.
template <class T>
inline T* memory_at(PhysicalAddress address) {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address.value));
}

/// The physical address of an object of the hypervisor.
inline PhysicalAddress address_of(const void* object) {
    return {reinterpret_cast<std::uintptr_t>(object)};
}

/// Writes one translation table entry, single-copy atomic, as table walks need it (LPAE, A3.5.3).
inline void store_descriptor(std::uint64_t* entry, std::uint64_t value) {
    store_shared(*entry, value);
}

/// Writes one of the two words of `value` to an entry: single-copy atomic for any walk.
inline void store_half(std::uint64_t& entry, bool upper, std::uint64_t value) {
    using Word [[gnu::may_alias]] = std::uint32_t;
    store_shared(reinterpret_cast<Word*>(&entry)[upper],
                 static_cast<std::uint32_t>(value >> (upper ? 32 : 0)));
}

/// Writes the entry only if it equals `expected`, else sets `expected` to it. Atomic among CPUs.
inline bool exchange_descriptor(std::uint64_t* entry, std::uint64_t& expected,
                                std::uint64_t value) {
    return __atomic_compare_exchange_n(entry, &expected, value, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/// Cleans and invalidates [begin, begin+size) to the point of coherency: observers that bypass the
/// caches see it, and what they write is seen here.
void flush_to_coherency(PhysicalAddress begin, std::size_t size);
/// Likewise of a word, or a part of one, which always lies in one line.
inline void flush_word_to_coherency(PhysicalAddress at) {
    write<reg::DCCIMVAC>(static_cast<std::uint32_t>(at.value));
    complete_system();
}

/// Turns this CPU's MMU and caches on by writing `hsctlr`. Invalidates its stack, which ends at
/// `stack_end`, in the caches: the stack was written to memory directly, and another CPU that maps
/// it may have read older lines of it ahead (ARM ARM B2.2.2).
void mmu_on(std::uint32_t hsctlr, PhysicalAddress stack_end);

} // namespace mmioscope::port
