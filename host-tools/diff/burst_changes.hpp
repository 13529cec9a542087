// The rules for bursts of data: their lengths, and words that never differ.
#pragma once

#include "diff/changes.hpp"

#include <vector>

namespace mmioscope::diff {

/// Leaves out bursts with a write that is in `told`.
std::vector<BurstChange> burst_changes(const Alike& alike, const Told& told);

} // namespace mmioscope::diff
