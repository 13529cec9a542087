#include "integrity/checksum.hpp"

#include "port/multiply.hpp"

#include <memory>

namespace mmioscope {

namespace {

// A word in an even place and the word after it have the weights w and w * odd_place. w is odd, and
// at least 2^32 - 1023; two such w differ by at most 1,022, and have no common divisor above 501.
constexpr std::uint32_t first_weight = 0xffff'ffff;
constexpr std::uint64_t odd_place = 0x9e37'79b9'7f4a'7c15;

constexpr std::size_t pair_size = 8;

std::uint32_t word_at(const std::uint8_t* bytes) {
    std::uint32_t word; // freestanding: memcpy() without the prefix would be a call
    __builtin_memcpy(&word, std::assume_aligned<sizeof word>(bytes), sizeof word);
    return word;
}

} // namespace

std::uint64_t checksum(const std::uint8_t* bytes, std::size_t size) {
    const std::size_t most = size / port::product_size * port::product_size;
    std::uint64_t even = 0, odd = 0;
    std::uint32_t weight = first_weight;
    if (most != 0) port::add_products(bytes, bytes + most, weight, even, odd);
    std::uint64_t rest = 0;
    for (std::size_t at = most; at < size; at += sizeof(std::uint32_t))
        rest += checksum_of_change(at, 0, word_at(bytes + at));
    return even + odd * odd_place + rest;
}

std::uint64_t checksum_of_change(std::size_t offset, std::uint32_t from, std::uint32_t to) {
    const auto pair = static_cast<std::uint32_t>(offset / pair_size);
    const std::uint64_t weight = first_weight - pair * port::weight_step;
    return (std::uint64_t{to} - from) * weight * (offset % pair_size == 0 ? 1 : odd_place);
}

} // namespace mmioscope
