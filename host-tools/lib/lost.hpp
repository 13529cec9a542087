// How many records are missing in all. A sum of what a file claims must not wrap: it would come to
// a trace that lacks nothing.
#pragma once

#include "abi/container.hpp"

#include <cstdint>
#include <span>

namespace mmioscope::trace {

/// UINT64_MAX stands for that many or more.
constexpr std::uint64_t add_lost(std::uint64_t sum, std::uint64_t count) {
    return count > UINT64_MAX - sum ? UINT64_MAX : sum + count;
}

/// 0 only if no loss has a count.
constexpr std::uint64_t sum_of(std::span<const abi::Loss> losses) {
    std::uint64_t sum = 0;
    for (const abi::Loss& loss : losses) {
        sum = add_lost(sum, loss.count);
    }
    return sum;
}

} // namespace mmioscope::trace
