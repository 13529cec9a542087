// Converts between ticks of the machine's counter and nanoseconds.
#pragma once

#include <cstdint>

namespace mmioscope::trace {

/// The nanoseconds of `ticks` of a counter with `frequency` Hz; if that is 0, the ticks themselves.
constexpr std::uint64_t nanoseconds(std::uint64_t ticks, std::uint32_t frequency) {
    constexpr std::uint64_t giga = 1'000'000'000;
    if (frequency == 0) {
        return ticks;
    }
    if (ticks <= UINT64_MAX / giga) {
        return ticks * giga / frequency;
    }
    // In two parts, because ticks * 10^9 may overflow 64 bits in a long trace.
    return ticks / frequency * giga + ticks % frequency * giga / frequency;
}

/// A time for use in text.
struct Seconds {
    std::uint64_t seconds;
    std::uint64_t micros; ///< after the decimal point
};

/// The time from `before` to `now`; 0 if the times of a trace go back.
constexpr std::uint64_t elapsed(std::uint64_t before, std::uint64_t now) {
    return now < before ? 0 : now - before;
}

/// Seconds of `ticks` of a counter with `frequency` Hz, which must not be 0. Any number of ticks.
constexpr Seconds seconds(std::uint64_t ticks, std::uint32_t frequency) {
    return {ticks / frequency, ticks % frequency * 1'000'000 / frequency};
}

/// nanoseconds() for many times of one counter: with most counters a tick is a whole number of
/// nanoseconds.
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
    std::uint32_t whole_; ///< ns; 0: not a whole number
};

/// The most ticks that are at most `nanoseconds`.
std::uint64_t ticks(std::uint64_t nanoseconds, std::uint32_t frequency);

} // namespace mmioscope::trace
