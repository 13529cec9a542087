// A checksum of up to 4 KiB of words, at three instructions each, that can follow a change: the sum
// of the words, each times a weight of its own, modulo 2^64. It tells
//
// - every damage to one word: a difference below 2^32 times a weight is not 0,
// - every two flipped bits,
// - two damaged words in even places, or two in odd ones, but for at most 1,002 of the 2^64 pairs
//   of differences, in which both are above 2^22,
// - any other damage, words overwritten at random say, but for one in 2^64.
//
// Nobody is kept from making other words of the same sum on purpose.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope {

inline constexpr std::size_t checksum_size = 4096; ///< bytes at most

/// Of words: `size` bytes, a multiple of 4, from a multiple of 4 on.
std::uint64_t checksum(const std::uint8_t* bytes, std::size_t size);

/// What the checksum grows by when the word `offset` bytes behind the first changes.
std::uint64_t checksum_of_change(std::size_t offset, std::uint32_t from, std::uint32_t to);

} // namespace mmioscope
