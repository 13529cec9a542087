// Bytes that go behind a record (abi/payload.hpp), before they are in a ring.
#pragma once

#include "abi/payload.hpp"

namespace mmioscope {

struct Payload {
    const std::uint8_t* bytes{};
    std::uint32_t size{}; ///< up to abi::payload_limit; 0: none

    /// How many records they take.
    constexpr std::uint32_t records() const { return abi::pieces_of(size); }
};
inline constexpr Payload no_payload{};

} // namespace mmioscope
