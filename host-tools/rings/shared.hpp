// Access to the trace area, which the hypervisor writes at the same time. Here the area is ordinary
// memory; a program in the guest has another kind of memory, and its own header of this name
// (guest-linux/program/include/).
#pragma once

#include "abi/record.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace mmioscope::rings::shared {

/// Later reads happen after this load.
template <typename T>
T load(T& from) {
    return std::atomic_ref<T>(from).load(std::memory_order_acquire);
}

/// Earlier reads happen before this store.
template <typename T>
void store(T& to, T value) {
    std::atomic_ref<T>(to).store(value, std::memory_order_release);
}

/// Copies words that may be changing. `size` and `from` are multiples of 4.
inline void copy(void* to, const void* from, std::size_t size) {
    std::memcpy(to, from, size);
}

/// Appends records that may be changing.
inline void append(std::vector<abi::Record>& to, std::span<const abi::Record> from) {
    to.insert(to.end(), from.begin(), from.end());
}

/// Earlier copies are complete after this call.
inline void order() {
    std::atomic_thread_fence(std::memory_order_acquire);
}

} // namespace mmioscope::rings::shared
