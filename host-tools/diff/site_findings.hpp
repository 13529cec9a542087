// Changes of sites as findings: what one side has and the other has not.
#pragma once

#include "diff/changes.hpp"
#include "diff/finding.hpp"

#include <vector>

namespace mmioscope::diff {

/// One for each device, module, function, register of those that changed, from the largest to the
/// smallest that tells it all.
std::vector<Finding> site_findings(const Alike& alike, const Changes& changes, const Sites& sites);

} // namespace mmioscope::diff
