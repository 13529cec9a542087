// Records of instructions that the hypervisor carries out without knowing all their effects: VFP,
// NEON, exclusives, SWP. There is one such record, with flag_value_unknown and the address of the
// first access; size and value mean nothing. QEMU logs every access:
//
//   VLDR, VLDM, VLD1, LDREXD   consecutive reads, from up to 7 bytes below on
//   VSTR, VSTM, VST1           writes, likewise
//   SWP, STREX, STREXD         the reads, and then the writes to the same addresses
//
// Likewise walks of the guest's page tables: any reads in a page. An instruction that took an
// exception after its first access has a fault record with that flag, and some of these lines.
#pragma once

#include "abi/ring.hpp"
#include "import/access_log.hpp"
#include "verify/artefacts.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace mmioscope::verify {

bool is_undecoded(const importing::Event& event);

/// All lines that the first event, which is undecoded, may have caused, but no line with which the
/// next event may begin.
Match undecoded(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events);

// Accesses that only one side can have: those outside the selection, and reads of flash that QEMU
// does not log.

/// Removes the lines of places outside the regions selected at boot, if the trace has no event
/// there; if a region is selected later, all its lines stay. Returns the number of removed lines.
std::uint64_t leave_out_unselected(importing::AccessLog& log,
                                   std::span<const importing::Event> events,
                                   std::span<const abi::RegionEntry> regions);

/// Which events are reads of a flash in ROM mode, for which QEMU does not call its model: it is in
/// that mode after reset, and after a write of 0xff or 0xf0 until another write.
std::vector<bool> rom_reads(std::span<const importing::Event> events,
                            std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
