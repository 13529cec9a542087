// Changes as findings: one for each cause, in words.
#pragma once

#include "diff/changes.hpp"
#include "diff/finding.hpp"

#include <vector>

namespace mmioscope::diff {

/// What follows from a driver's stop: in one finding (stops.hpp), or each on its own.
enum class Stops { together, apart };

/// Sure ones first, then in the order in which the boots did them, because the first may have
/// caused the rest. `sites` describes the registers.
std::vector<Finding> findings(const Alike& alike, const Changes& changes, const Sites& sites,
                              Stops stops = Stops::together);

} // namespace mmioscope::diff
