// Accesses that a guest still makes after the access that ends its machine.
#pragma once

#include "verify/align.hpp"
#include "verify/difference.hpp"

#include <span>
#include <vector>

namespace mmioscope::verify {

/// The machine may live on for a moment, and not long enough to tell of it: a few lines of the log,
/// behind an access that can end the machine (abi::flag_early) and behind all that the trace has,
/// are not missing. Takes them out of `differences`, and returns how many there are.
std::uint64_t leave_out_behind_end(std::vector<Difference>& differences,
                                   std::span<const logs::Event> events, const Matching& matching);

} // namespace mmioscope::verify
