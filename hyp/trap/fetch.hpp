// Reading the instruction that trapped, through the guest's own translation.
#pragma once

#include "entry/frame.hpp"
#include "mm/memory_map.hpp"

#include <optional>

namespace mmioscope {

/// The instruction at PC: an ARM word, or a Thumb instruction as in arch/instruction.hpp. Empty if
/// it cannot be read: its page is no longer mapped, or does not lie in `memory`.
std::optional<std::uint32_t> fetch_instruction(const Frame& frame, const MemoryMap& memory);

} // namespace mmioscope
