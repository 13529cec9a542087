// What a CPU is doing with an access (abi/ring.hpp), read by another one while it goes on.
#pragma once

#include "abi/ring.hpp"

#include <optional>

namespace mmioscope {

struct InFlightMark {
    abi::InFlight state;
    std::uint32_t pc; ///< this and what follows: if it has begun
    std::uint64_t pa;
    std::uint64_t time; ///< CNTPCT
};

/// The mark of the ring's CPU, all of it of one access; nothing if the CPU has gone on meanwhile.
std::optional<InFlightMark> read_in_flight(const abi::RingHeader& ring);

} // namespace mmioscope
