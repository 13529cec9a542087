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

#include "verify/artefacts.hpp"

namespace mmioscope::verify {

bool is_undecoded(const importing::Event& event);

/// All lines that the first event, which is undecoded, may have caused, but no line with which the
/// next event may begin.
Match undecoded(const Ahead<importing::Line>& lines, const Ahead<importing::Event>& events);

} // namespace mmioscope::verify
