// Reads the instruction that trapped, through the guest's own translation.
#pragma once

#include "entry/frame.hpp"
#include "machine/machine.hpp"

#include <optional>
#include <span>

namespace mmioscope {

/// The instruction at PC: an ARM word, or a Thumb instruction as in arch/instruction.hpp. Empty if
/// it cannot be read: its page is not mapped any more, or is neither the guest's RAM nor untraced
/// flash or SRAM.
std::optional<std::uint32_t> fetch_instruction(const Frame& frame, const Machine& machine);

/// The only way in which Hyp reads the guest's memory while the guest runs (docs/design.md, "Guest
/// memory that Hyp reads"). Hyp maps it Non-cacheable, so no line of it comes into a cache by Hyp,
/// read or speculated; what the guest's caches have is cleaned to memory first.
///
/// Copies the words at `pa`, a multiple of 4, all on one page, as the guest or a device has last
/// written them. False: they are not the guest's RAM, or lie where Hyp must not look (`no-map`).
[[nodiscard]] bool read_guest_memory(const Machine& machine, PhysicalAddress pa,
                                     std::span<std::uint32_t> to);

} // namespace mmioscope
