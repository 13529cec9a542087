#include "records/ticks.hpp"

#include <limits>

namespace mmioscope::trace {

namespace {

constexpr std::uint64_t giga = 1'000'000'000;

} // namespace

// One tick more would give more nanoseconds.
std::uint64_t ticks(std::uint64_t nanoseconds, std::uint32_t frequency) {
    if (frequency == 0) {
        return nanoseconds;
    }
    const std::uint64_t seconds = nanoseconds / giga;
    const std::uint64_t rest = ((nanoseconds % giga + 1) * frequency - 1) / giga;
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return seconds > (most - rest) / frequency ? most : seconds * frequency + rest;
}

} // namespace mmioscope::trace
