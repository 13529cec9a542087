// A checksum of up to 4 KiB of words, at two instructions each, that can follow a change: the sum
// of the words, each multiplied by its own weight, modulo 2^64. It detects
//
// - any damage to one word, since a difference below 2^32 times a weight is not 0,
// - any two flipped bits,
// - two damaged words, both in even places or both in odd ones, except for at most 1,002 of the
//   2^64 pairs of differences, in which both are above 2^22,
// - any other damage (such as words overwritten at random), except for one case in 2^64.
//
// It does not protect against words that are made on purpose to have the same sum.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope {

inline constexpr std::size_t checksum_size = 4096; ///< bytes, the most that it covers

/// The checksum of `size` bytes, a multiple of 4, at `bytes`, a multiple of 4.
std::uint64_t checksum(const std::uint8_t* bytes, std::size_t size);

/// What must be added to the checksum when the word at byte `offset` changes.
std::uint64_t checksum_of_change(std::size_t offset, std::uint32_t from, std::uint32_t to);

} // namespace mmioscope
