// Names the differences: of what align() could not put together, some lines and events tell of
// the same access after all, with one field altered or at another place.
#pragma once

#include "verify/align.hpp"
#include "verify/difference.hpp"

#include <span>
#include <vector>

namespace mmioscope::verify {

/// The differences other than of order. An event that has merely moved is added to `matching`
/// instead, for check_order() to find.
std::vector<Difference> name_leftovers(std::span<const logs::Line> lines,
                                       std::span<const logs::Event> events, Matching& matching);

} // namespace mmioscope::verify
