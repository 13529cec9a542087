// The rules for writes: how often each happens, and which follows which.
#pragma once

#include "diff/changes.hpp"

#include <vector>

namespace mmioscope::diff {

/// Leaves out writes that are in `told`, and adds to it those that it reports.
std::vector<CountChange> count_changes(const Alike& alike, Told& told);
/// Leaves out writes that are in `told`.
std::vector<OrderChange> order_changes(const Alike& alike, Told& told);

} // namespace mmioscope::diff
