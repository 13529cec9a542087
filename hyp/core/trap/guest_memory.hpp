// The only way in which Hyp reads the guest's memory while the guest runs (docs/design.md, "Guest
// memory that Hyp reads"). Hyp maps it Non-cacheable, so no line of it comes into a cache by Hyp,
// read or speculated; what the guest's caches have is cleaned to memory first.
#pragma once

#include "base/address.hpp"
#include "machine/machine.hpp"

#include <span>

namespace mmioscope {

/// Copies the words at `pa`, a multiple of 4, all on one page, as the guest or a device has last
/// written them. False: they are not the guest's RAM, or lie where Hyp must not look (`no-map`).
[[nodiscard]] bool read_guest_memory(const Machine& machine, PhysicalAddress pa,
                                     std::span<std::uint32_t> to);

} // namespace mmioscope
