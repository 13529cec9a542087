// Classifies the differences: some lines and events that align() could not match are the same
// access after all, with one field altered or at another place.
#pragma once

#include "verify/align.hpp"
#include "verify/compare.hpp"

#include <span>
#include <vector>

namespace mmioscope::verify {

/// The differences except those of order. An event that merely moved is added to `matching`
/// instead, for check_order() to find.
std::vector<Difference> name_leftovers(std::span<const importing::Line> lines,
                                       std::span<const importing::Event> events,
                                       Matching& matching);

} // namespace mmioscope::verify
