// Changed bursts as findings.
#pragma once

#include "diff/changes.hpp"
#include "diff/finding.hpp"

#include <vector>

namespace mmioscope::diff {

/// One finding for each register.
std::vector<Finding> burst_findings(const Alike& alike, const Changes& changes, const Sites& sites);

} // namespace mmioscope::diff
