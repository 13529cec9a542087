// The PCs of all accesses, as a plugin in QEMU saw them (tests/qemu/pc_log.c), against the trace's.
//
// A line is "CPU R|W SIZE ADDRESS PC". Each CPU's are in its order; between CPUs there is none.
// There are no values, and all accesses have a CPU, those that reach no device model too.
#pragma once

#include "logs/access_log.hpp"
#include "verify/compare.hpp"

#include <span>

namespace mmioscope::verify {

/// Reads all of `source`. Throws Error if reading fails.
logs::AccessLog read_pc_log(ByteSource& source);

/// Compares CPU, direction, size and address of all events, and the PC of those whose instruction
/// was the guest's. `compared` counts the PCs.
Result compare_pcs(logs::AccessLog& log, std::span<const logs::Event> events,
                   std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
