// A histogram in bounded memory, with a precision of 1/32 of each number.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mmioscope::analysis {

class Histogram {
public:
    void add(std::uint32_t number) {
        const std::size_t at = place_of(number);
        if (at >= counts_.size()) {
            counts_.resize(at + 1);
        }
        ++counts_[at];
        ++all_;
    }

    std::uint64_t size() const { return all_; }

    /// The least number that at least `percent` of all do not exceed, or up to 1/32 more. 0 if
    /// there are no numbers.
    std::uint64_t at(unsigned percent) const {
        const std::uint64_t wanted = (all_ * percent + 99) / 100;
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            seen += counts_[i];
            if (seen >= wanted && seen > 0) {
                return last_of(i);
            }
        }
        return 0;
    }

private:
    // Numbers below 64 have a place each; those of n bits share 32.
    static std::size_t place_of(std::uint32_t number) {
        const int more = std::bit_width(number) - 6;
        return more <= 0 ? number : static_cast<std::size_t>(more) * 32 + (number >> more);
    }
    static std::uint64_t last_of(std::size_t place) {
        if (place < 64) {
            return place;
        }
        const std::size_t more = place / 32 - 1;
        return ((std::uint64_t{place - more * 32} + 1) << more) - 1;
    }

    std::vector<std::uint64_t> counts_;
    std::uint64_t all_ = 0;
};

} // namespace mmioscope::analysis
