// Pairs of a line and an event that must belong together, because their content occurs once on
// either side. With them, a trace that lacks most accesses is compared piece by piece.
#pragma once

#include "verify/detour.hpp"

#include <vector>

namespace mmioscope::verify {

/// Their places from `from` on, in the order of both sides, as many as can be.
std::vector<Place> find_anchors(const StreamPair& pair, const Place& from);

} // namespace mmioscope::verify
