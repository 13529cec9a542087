// Physical memory as Hyp reaches it: mapped to itself, RAM write-back, devices as Device.
#pragma once

#include "base/address.hpp"
#include "port/shared.hpp"

#include <cstddef>

namespace mmioscope::port {

/// RAM at `address`. Only for what the device tree calls memory, or the hypervisor's own.
template <class T>
inline T* memory_at(PhysicalAddress address) {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address.value));
}

/// Where an object of the hypervisor lies.
inline PhysicalAddress address_of(const void* object) {
    return {reinterpret_cast<std::uintptr_t>(object)};
}

/// Writes one translation table entry; single-copy atomic, as the walks need it (LPAE, A3.5.3).
inline void store_descriptor(std::uint64_t* entry, std::uint64_t value) {
    store_shared(*entry, value);
}

/// Writes it only if it holds `expected`, and says in `expected` what it held; atomic among CPUs.
inline bool exchange_descriptor(std::uint64_t* entry, std::uint64_t& expected,
                                std::uint64_t value) {
    return __atomic_compare_exchange_n(entry, &expected, value, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

/// Makes [begin, begin+size) visible to observers that do not use the caches, and forgets it: what
/// they write there is seen here.
void flush_to_coherency(PhysicalAddress begin, std::size_t size);

/// Turns this CPU's MMU and caches on by writing `hsctlr`. What is on its stack, which ends at
/// `stack_end`, was written to memory, behind the caches; another CPU, which has the stack mapped,
/// may have read lines of it ahead (ARM ARM B2.2.2), as it was before. They are forgotten.
void mmu_on(std::uint32_t hsctlr, PhysicalAddress stack_end);

} // namespace mmioscope::port
