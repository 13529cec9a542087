// Ticks of the machine's counter, and nanoseconds.
#pragma once

#include <cstdint>

namespace mmioscope::trace {

/// `ticks` of a counter of `frequency` Hz, or themselves if that is 0.
constexpr std::uint64_t nanoseconds(std::uint64_t ticks, std::uint32_t frequency) {
    constexpr std::uint64_t giga = 1'000'000'000;
    if (frequency == 0) {
        return ticks;
    }
    if (ticks <= UINT64_MAX / giga) {
        return ticks * giga / frequency;
    }
    // In two parts: the product of a long trace's ticks with 10^9 does not fit 64 bits.
    return ticks / frequency * giga + ticks % frequency * giga / frequency;
}

/// A time as texts have it.
struct Seconds {
    std::uint64_t seconds;
    std::uint64_t micros; ///< behind the point
};

/// `ticks` of a counter of `frequency` Hz, which is not 0: any number of them.
constexpr Seconds seconds(std::uint64_t ticks, std::uint32_t frequency) {
    return {ticks / frequency, ticks % frequency * 1'000'000 / frequency};
}

/// nanoseconds() of one counter, for many: most counters take a whole number for each tick.
class TickLength {
public:
    explicit constexpr TickLength(std::uint32_t frequency)
        : frequency_(frequency), whole_(frequency == 0                   ? 1
                                        : 1'000'000'000 % frequency == 0 ? 1'000'000'000 / frequency
                                                                         : 0) {}

    constexpr std::uint64_t nanoseconds(std::uint64_t ticks) const {
        if (whole_ != 0) [[likely]] {
            return ticks * whole_;
        }
        return trace::nanoseconds(ticks, frequency_);
    }

private:
    std::uint32_t frequency_;
    std::uint32_t whole_; ///< ns; 0: it is none
};

/// The most ticks that are no more than so many nanoseconds.
std::uint64_t ticks(std::uint64_t nanoseconds, std::uint32_t frequency);

} // namespace mmioscope::trace
