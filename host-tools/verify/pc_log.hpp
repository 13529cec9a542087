// Compares the PCs of all accesses, as seen by a plugin in QEMU (tests/qemu/pc_log.c), with the
// trace's.
//
// A line is "CPU R|W SIZE ADDRESS PC". Lines of one CPU are in order; those of different CPUs are
// not. There are no values, and all accesses have a CPU, even those that reach no device model.
#pragma once

#include "import/access_log.hpp"
#include "verify/compare.hpp"

#include <span>

namespace mmioscope::verify {

/// Reads all of `source`. Throws Error if reading fails.
importing::AccessLog read_pc_log(ByteSource& source);

/// Compares CPU, direction, size and address of all events, and the PC of those made by a guest
/// instruction. `compared` counts the PCs.
Result compare_pcs(importing::AccessLog& log, std::span<const importing::Event> events,
                   std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
