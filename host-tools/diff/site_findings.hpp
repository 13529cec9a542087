// Changes of sites as findings: what only one side has.
#pragma once

#include "diff/changes.hpp"
#include "diff/finding.hpp"

#include <vector>

namespace mmioscope::diff {

/// A finding and the changes that it reports.
struct SiteFinding {
    Finding finding;
    std::vector<SiteChange> changes;
};

/// One finding for each device, module, function or register that changed: the largest unit that
/// covers its changes.
std::vector<SiteFinding> site_findings(const Alike& alike, const Changes& changes,
                                       const Sites& sites);

} // namespace mmioscope::diff
