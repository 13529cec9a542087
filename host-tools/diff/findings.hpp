// Changes as findings: one for each cause, in words.
#pragma once

#include "diff/changes.hpp"
#include "diff/finding.hpp"

#include <vector>

namespace mmioscope::diff {

/// Those that are sure first, then by device. `sites` describe the registers.
std::vector<Finding> findings(const Alike& alike, const Changes& changes, const Sites& sites);

} // namespace mmioscope::diff
