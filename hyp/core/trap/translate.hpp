// The guest's own stage-1 translation, made by the hardware, and what lies at its addresses.
#pragma once

#include "base/address.hpp"
#include "entry/frame.hpp"

#include <optional>
#include <span>

namespace mmioscope {

struct Cpu;
struct Machine;

/// The address that a read of `va` in the guest's present mode would reach; empty if it would
/// fault, or if one of the guest's tables on the way lies in a page that traps.
std::optional<PhysicalAddress> translate(const Frame& frame, VirtualAddress va);
/// Likewise of a store.
std::optional<PhysicalAddress> translate_store(const Frame& frame, VirtualAddress va);
/// As translate(), for a read or a write, and also through tables in pages that trap: the walk then
/// reads the device once more. With Machine::original() also through tables that another CPU has.
std::optional<PhysicalAddress> translate(Cpu& cpu, const Frame& frame, VirtualAddress va,
                                         bool write);

/// Whether the guest's own tables make a read of `va` fault. Not known, so false, if one of them is
/// in a page that traps.
bool is_unmapped(const Frame& frame, VirtualAddress va);

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
