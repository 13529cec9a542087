// Reads the instruction that trapped, through the guest's own translation.
#pragma once

#include "entry/frame.hpp"
#include "machine/machine.hpp"

#include <optional>

namespace mmioscope {

/// The instruction at PC: an ARM word, or a Thumb instruction as in arch/instruction.hpp. Empty if
/// it cannot be read: its page is not mapped any more, or is neither the guest's RAM nor untraced
/// flash or SRAM.
std::optional<std::uint32_t> fetch_instruction(const Frame& frame, const Machine& machine);

} // namespace mmioscope
