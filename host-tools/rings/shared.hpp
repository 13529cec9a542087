// The trace area as it is accessed: memory that the hypervisor writes at the same time. This is the
// area as ordinary memory; a program in the guest has it as memory of another kind, and a header of
// the same name (guest-linux/program/include/).
#pragma once

#include "abi/record.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace mmioscope::rings::shared {

/// What follows is read after this.
template <typename T>
T load(T& from) {
    return std::atomic_ref<T>(from).load(std::memory_order_acquire);
}

/// What was read before is read by then.
template <typename T>
void store(T& to, T value) {
    std::atomic_ref<T>(to).store(value, std::memory_order_release);
}

/// Words that may be changing. `size` and `from` are multiples of 4.
inline void copy(void* to, const void* from, std::size_t size) {
    std::memcpy(to, from, size);
}

/// Appends records that may be changing.
inline void append(std::vector<abi::Record>& to, std::span<const abi::Record> from) {
    to.insert(to.end(), from.begin(), from.end());
}

/// What was copied before is copied by then.
inline void order() {
    std::atomic_thread_fence(std::memory_order_acquire);
}

} // namespace mmioscope::rings::shared
