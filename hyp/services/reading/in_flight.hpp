// A CPU's ring, read by another one while it goes on: its head, and what the CPU is doing with an
// access (abi/ring.hpp).
#pragma once

#include "abi/ring.hpp"
#include "port/barrier.hpp"
#include "port/shared.hpp"

#include <optional>

namespace mmioscope {

/// The number of records published.
inline std::uint64_t load_head(const abi::RingHeader& ring) {
    const std::uint32_t half_turns = port::load_shared(ring.half_turns);
    port::order_memory();
    return abi::position_of(half_turns, port::load_shared(ring.head));
}

/// The slot to which a slot's mark refers; null if the ring has no such one.
const abi::Record* marked_slot(const abi::RingHeader& ring, std::uint64_t capacity,
                               abi::InFlight mark);

struct InFlightMark {
    abi::InFlight state;
    std::uint32_t pc; ///< this and what follows: if it has begun
    std::uint64_t pa;
    std::uint64_t time; ///< CNTPCT

    bool operator==(const InFlightMark&) const = default;
};

/// The mark of the CPU whose ring has `capacity` slots, all of it of one access; nothing if the CPU
/// has gone on meanwhile.
std::optional<InFlightMark> read_in_flight(const abi::RingHeader& ring, std::uint64_t capacity);

} // namespace mmioscope
