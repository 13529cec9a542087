// The rules for writes: how often each is done, and which follows which.
#pragma once

#include "diff/changes.hpp"

#include <vector>

namespace mmioscope::diff {

/// None of writes that are in `told`; adds those that it finds.
std::vector<CountChange> count_changes(const Alike& alike, Told& told);
/// None of writes that are in `told`.
std::vector<OrderChange> order_changes(const Alike& alike, Told& told);

} // namespace mmioscope::diff
