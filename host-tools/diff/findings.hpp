// Changes as findings: one for each cause, in words.
#pragma once

#include "diff/changes.hpp"
#include "diff/finding.hpp"

#include <vector>

namespace mmioscope::diff {

/// Those that are sure first, then in the order in which they were seen: what came first may have
/// led to the rest. `sites` describe the registers.
std::vector<Finding> findings(const Alike& alike, const Changes& changes, const Sites& sites);

} // namespace mmioscope::diff
