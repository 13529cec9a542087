// Host twin of hyp/core/port/multiply.hpp.
#pragma once

#include <cstdint>
#include <cstring>

namespace mmioscope::port {

inline constexpr unsigned product_size = 64;
inline constexpr std::uint32_t weight_step = 2;

/// The products of the words from `at` to `end` and their pairs' weights, in two sums: one for the
/// first words of the pairs, one for the second ones. Each pair's weight is `weight_step` below the
/// one before. From `at` to `end` it is a multiple of `product_size` bytes, more than none.
inline void add_products(const std::uint8_t* at, const std::uint8_t* end, std::uint32_t& weight,
                         std::uint64_t& first, std::uint64_t& second) {
    for (; at != end; at += 8, weight -= weight_step) {
        std::uint32_t words[2];
        std::memcpy(words, at, sizeof words);
        first += std::uint64_t{words[0]} * weight;
        second += std::uint64_t{words[1]} * weight;
    }
}

} // namespace mmioscope::port
