// Pairs of a line and an event that must match, because their content occurs once on each side.
// They allow piecewise comparison of a trace that lacks most accesses.
#pragma once

#include "verify/detour.hpp"

#include <vector>

namespace mmioscope::verify {

/// The pairs from `from` on, in the order of both sides, as many as possible.
std::vector<Place> find_anchors(const StreamPair& pair, const Place& from);

} // namespace mmioscope::verify
