// Accesses that only one side can have: those that were not to be traced, and reads of flash that
// QEMU does not log.
#pragma once

#include "abi/ring.hpp"
#include "logs/access_log.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::verify {

/// Takes out the lines of places that are in no region that was selected at boot, and of which the
/// trace has nothing: who selects them later gets all of them. Returns how many.
std::uint64_t leave_out_unselected(logs::AccessLog& log, std::span<const logs::Event> events,
                                   std::span<const abi::RegionEntry> regions);

/// Which events are reads of a flash in ROM mode, of which QEMU makes no accesses to its model: it
/// is in that mode from reset on, and behind a write of 0xff or 0xf0, until another one.
std::vector<bool> rom_reads(std::span<const logs::Event> events,
                            std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
