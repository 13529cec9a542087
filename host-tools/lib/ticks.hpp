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

/// The most ticks that are no more than so many nanoseconds.
std::uint64_t ticks(std::uint64_t nanoseconds, std::uint32_t frequency);

} // namespace mmioscope::trace
