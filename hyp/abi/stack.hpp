// What the bytes of a payload are (abi/payload.hpp), and those that are a stack.
#pragma once

#include "abi/payload.hpp"

namespace mmioscope::abi {

/// The first word of a payload.
enum class PayloadKind : std::uint32_t {
    stack = 0x6b61'7473, ///< "stak": StackHead, and words from SP on, as many as could be read
};

/// Who was running, besides what the record says: enough to undo the frames of its callers.
struct StackHead {
    PayloadKind kind;
    std::uint32_t registers[8]; ///< r4 to r11
};

inline constexpr unsigned most_stack = 2048; ///< bytes behind it
inline constexpr unsigned default_stack = 256;
static_assert(sizeof(StackHead) + most_stack <= payload_limit);

} // namespace mmioscope::abi
