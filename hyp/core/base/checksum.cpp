#include "base/checksum.hpp"

#include <memory>

namespace mmioscope {

namespace {

// A word in an even place and the word after it have the weights w and w * odd_place. w is odd, and
// at least 2^32 - 1023; two such w differ by at most 1,022, and have no common divisor above 501.
constexpr std::uint32_t first_weight = 0xffff'ffff;
constexpr std::uint32_t weight_step = 2;
constexpr std::uint64_t odd_place = 0x9e37'79b9'7f4a'7c15;

constexpr std::size_t pair_size = 8;

std::uint32_t word_at(const std::uint8_t* bytes) {
    std::uint32_t word; // freestanding: memcpy() without the prefix would be a call
    __builtin_memcpy(&word, std::assume_aligned<sizeof word>(bytes), sizeof word);
    return word;
}

/// GCC must not see the value of the parameter `weight`: if it knew the first weight, it would make
/// all of them 64 bits wide, and each multiplication would cost twice as much.
[[gnu::noipa]] std::uint64_t sum(const std::uint8_t* pairs, const std::uint8_t* end,
                                 std::uint32_t weight) {
    std::uint64_t even = 0, odd = 0;
#pragma GCC unroll 8
    for (; pairs != end; pairs += pair_size, weight -= weight_step) {
        even += std::uint64_t{word_at(pairs)} * weight;
        odd += std::uint64_t{word_at(pairs + 4)} * weight;
    }
    return even + odd * odd_place;
}

} // namespace

std::uint64_t checksum(const std::uint8_t* bytes, std::size_t size) {
    const std::size_t pairs = size / pair_size * pair_size;
    const std::uint64_t of_pairs = sum(bytes, bytes + pairs, first_weight);
    if (pairs == size) return of_pairs;
    return of_pairs + checksum_of_change(pairs, 0, word_at(bytes + pairs));
}

std::uint64_t checksum_of_change(std::size_t offset, std::uint32_t from, std::uint32_t to) {
    const auto pair = static_cast<std::uint32_t>(offset / pair_size);
    const std::uint64_t weight = first_weight - pair * weight_step;
    return (std::uint64_t{to} - from) * weight * (offset % pair_size == 0 ? 1 : odd_place);
}

} // namespace mmioscope
