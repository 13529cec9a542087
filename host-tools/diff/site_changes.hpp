// The rules for sites: which of them only one side has, and what was written and read there.
#pragma once

#include "diff/changes.hpp"

#include <vector>

namespace mmioscope::diff {

/// Adds the writes that the changes tell of to `told`.
std::vector<SiteChange> site_changes(const Alike& alike, Told& told);

} // namespace mmioscope::diff
