// Sums of products, for checksums: by LDM, a third fewer instructions than GCC's.
#pragma once

#include <cstdint>

namespace mmioscope::port {

inline constexpr unsigned product_size = 64;
inline constexpr std::uint32_t weight_step = 2;

/// The products of the words from `at` to `end` and their pairs' weights, in two sums: one for the
/// first words of the pairs, one for the second ones. Each pair's weight is `weight_step` below the
/// one before. From `at` to `end` it is a multiple of `product_size` bytes, more than none.
inline void add_products(const std::uint8_t* at, const std::uint8_t* end, std::uint32_t& weight,
                         std::uint64_t& first, std::uint64_t& second) {
    asm volatile("1:\n\t"
                 ".rept 4\n\t"
                 "ldm %0!, {r8, r9, r10, r11}\n\t"
                 "umlal %Q1, %R1, r8, %3\n\t"
                 "umlal %Q2, %R2, r9, %3\n\t"
                 "sub %3, %3, %5\n\t"
                 "umlal %Q1, %R1, r10, %3\n\t"
                 "umlal %Q2, %R2, r11, %3\n\t"
                 "sub %3, %3, %5\n\t"
                 ".endr\n\t"
                 "cmp %0, %4\n\t"
                 "bne 1b"
                 : "+r"(at), "+r"(first), "+r"(second), "+r"(weight)
                 : "r"(end), "i"(weight_step)
                 : "r8", "r9", "r10", "r11", "cc", "memory");
}

} // namespace mmioscope::port
