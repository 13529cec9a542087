// The instructions to compare: all of Thumb-16. Of the others, first those with few free bits
// (exclusives, SRS, ...), then a sweep over the bits that tell loads and stores apart, with several
// fillings of the rest, then random words.
#pragma once

#include "facts.hpp"

#include <cstdint>
#include <random>

namespace mmioscope::decoder_test {

class Words {
public:
    Words(Set set, std::uint64_t count, std::uint64_t seed)
        : set_(set), count_(count), random_(seed) {}

    /// Calls `visit(word)` for each of `count` words, or for all of Thumb-16.
    template <class Visit>
    void for_each(Visit&& visit) {
        if (set_ != Set::thumb16) {
            for (std::uint64_t n = 0; n < count_; ++n) visit(wide(n));
            return;
        }
        for (std::uint32_t word = 0; word < 0x10000; ++word) visit(word);
    }

private:
    std::uint32_t random() { return static_cast<std::uint32_t>(random_()); }
    std::uint32_t wide(std::uint64_t n);
    std::uint32_t filling();
    std::uint32_t into_set(std::uint32_t word) const;

    Set set_;
    std::uint64_t count_;
    std::mt19937_64 random_;
};

} // namespace mmioscope::decoder_test
