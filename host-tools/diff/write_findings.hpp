// Changes of counts and of order as findings.
#pragma once

#include "diff/changes.hpp"
#include "diff/finding.hpp"

#include <vector>

namespace mmioscope::diff {

/// One finding for all changes that belong together.
std::vector<Finding> write_findings(const Alike& alike, const Changes& changes, const Sites& sites);

} // namespace mmioscope::diff
