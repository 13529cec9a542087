// A small seeded generator (splitmix64): the same numbers on every host and library.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace mmioscope::sim {

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e37'79b9'7f4a'7c15;
        z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
        z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
        return z ^ (z >> 31);
    }
    /// 0 to `end`-1.
    std::uint64_t below(std::uint64_t end) { return next() % end; }
    /// True once in `n` times on average; never for 0.
    bool one_in(std::uint64_t n) { return n != 0 && below(n) == 0; }

private:
    std::uint64_t state_;
};

/// The number of seeds for a randomised test; MMIOSCOPE_SEEDS in the environment, which may be a
/// fraction, multiplies `usual`.
inline unsigned seeds(unsigned usual) {
    const char* factor = std::getenv("MMIOSCOPE_SEEDS");
    const double all = factor != nullptr ? usual * std::strtod(factor, nullptr) : usual;
    return all < 1 ? 1 : static_cast<unsigned>(all);
}

} // namespace mmioscope::sim
