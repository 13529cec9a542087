// Accesses that a guest still makes after the access that ends its machine.
#pragma once

#include "verify/align.hpp"
#include "verify/difference.hpp"

#include <span>
#include <vector>

namespace mmioscope::verify {

/// The machine may live on for a moment, but not long enough to report it. A few lines of the log
/// after an access that can end the machine (abi::flag_early) and after everything in the trace are
/// therefore not missing. Removes them from `differences`, and returns their number.
std::uint64_t leave_out_behind_end(std::vector<Difference>& differences,
                                   std::span<const logs::Event> events, const Matching& matching);

} // namespace mmioscope::verify
