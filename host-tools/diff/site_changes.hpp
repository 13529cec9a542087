// The rules for sites: sites that only one side has, and different values.
#pragma once

#include "diff/changes.hpp"

#include <vector>

namespace mmioscope::diff {

/// Adds the writes that the changes report to `told`.
std::vector<SiteChange> site_changes(const Alike& alike, Told& told);

} // namespace mmioscope::diff
