// The trace area as a program in the guest has it: Linux maps it as Strongly-ordered memory, where
// no access may be unaligned and exclusives may not work (ARM ARM A3.2.1, A3.4.5). So there are
// words only, one at a time, and 64 bits are two of them. Stands in for
// host-tools/rings/shared.hpp.
#pragma once

#include "abi/record.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace mmioscope::rings::shared {

inline std::uint32_t load_word(const void* from) {
    return *static_cast<const volatile std::uint32_t*>(from);
}
inline void store_word(void* to, std::uint32_t value) {
    *static_cast<volatile std::uint32_t*>(to) = value;
}

/// Hyp's writes and ours are of different memory types: DMB is what orders them (A3.8.3).
inline void order() {
    asm volatile("dmb sy" ::: "memory");
}

/// The upper word again behind the lower one: if it has changed, the lower one belongs to neither.
template <typename T>
T load(T& from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    const auto* words = reinterpret_cast<const std::uint32_t*>(&from);
    T value;
    if constexpr (sizeof(T) == 4) {
        const std::uint32_t word = load_word(words);
        std::memcpy(&value, &word, sizeof value);
    } else {
        std::uint32_t high = load_word(words + 1);
        std::uint32_t low = load_word(words);
        for (std::uint32_t again = load_word(words + 1); again != high;
             again = load_word(words + 1)) {
            high = again;
            low = load_word(words);
        }
        value = static_cast<T>(std::uint64_t{high} << 32 | low);
    }
    order();
    return value;
}

/// A reader's position may be seen half written: then it makes no sense, and is not believed
/// (abi/ring.hpp).
template <typename T>
void store(T& to, T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    auto* words = reinterpret_cast<std::uint32_t*>(&to);
    order();
    store_word(words, static_cast<std::uint32_t>(value));
    if constexpr (sizeof(T) == 8) {
        store_word(words + 1, static_cast<std::uint32_t>(value >> 32));
    }
}

inline void copy(void* to, const void* from, std::size_t size) {
    const auto* words = static_cast<const std::uint32_t*>(from);
    auto* bytes = static_cast<std::byte*>(to);
    for (std::size_t n = 0; n < size / 4; ++n) {
        const std::uint32_t word = load_word(words + n);
        std::memcpy(bytes + 4 * n, &word, 4);
    }
}

inline void append(std::vector<abi::Record>& to, std::span<const abi::Record> from) {
    for (const abi::Record& record : from) {
        copy(&to.emplace_back(), &record, sizeof record);
    }
}

} // namespace mmioscope::rings::shared
