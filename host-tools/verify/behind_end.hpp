// Accesses that a trace cannot have, because the machine ended before their records were made.
#pragma once

#include "file/unfinished.hpp"
#include "verify/align.hpp"
#include "verify/difference.hpp"

#include <span>
#include <vector>

namespace mmioscope::verify {

/// The machine may live on for a moment, but not long enough to report it. A few lines of the log
/// after an access that can end the machine (abi::flag_early) and after everything in the trace are
/// therefore not missing. Removes them from `differences`, and returns their number.
std::uint64_t leave_out_behind_end(std::vector<Difference>& differences,
                                   std::span<const importing::Event> events, const Matching& matching);

/// An access in whose middle the machine ended may have been on the bus, with all of its words or
/// some. Lines of its CPU that follow everything this CPU has in the trace, as far as one
/// instruction reaches, are therefore not missing. Removes them from `differences`, and returns
/// their number.
std::uint64_t leave_out_unfinished(std::vector<Difference>& differences,
                                   std::span<const importing::Line> lines,
                                   std::span<const importing::Event> events, const Matching& matching,
                                   std::span<const trace::UnfinishedAccess> unfinished);

} // namespace mmioscope::verify
