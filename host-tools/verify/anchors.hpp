// Lines and events of a stream that can only belong together, since what they tell occurs once on
// either side: with them a trace that lacks most of what happened is compared piece by piece.
#pragma once

#include "verify/detour.hpp"

#include <vector>

namespace mmioscope::verify {

/// Their places from `from` on, in the order of both sides, as many as can be.
std::vector<Place> find_anchors(const StreamPair& pair, const Place& from);

} // namespace mmioscope::verify
