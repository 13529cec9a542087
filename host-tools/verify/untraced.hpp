// Accesses that only one side can have: those outside the selection, and reads of flash that QEMU
// does not log.
#pragma once

#include "abi/ring.hpp"
#include "import/access_log.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::verify {

/// Removes the lines of places outside the regions selected at boot, if the trace has no event
/// there; if a region is selected later, all its lines stay. Returns the number of removed lines.
std::uint64_t leave_out_unselected(importing::AccessLog& log, std::span<const importing::Event> events,
                                   std::span<const abi::RegionEntry> regions);

/// Which events are reads of a flash in ROM mode, for which QEMU does not call its model: it is in
/// that mode after reset, and after a write of 0xff or 0xf0 until another write.
std::vector<bool> rom_reads(std::span<const importing::Event> events,
                            std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
