// Devices that share a page: whoever traces or withholds one makes the others trap, too.
#pragma once

#include "plan/survey.hpp"

#include <cstdint>
#include <vector>

namespace mmioscope::plan {

/// The regions of other nodes that have bytes in a page with bytes of region `of`, in ascending
/// order.
std::vector<std::uint16_t> page_mates(const Survey& board, std::uint16_t of);

} // namespace mmioscope::plan
