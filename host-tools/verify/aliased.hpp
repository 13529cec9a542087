// Handles device models that QEMU maps through an alias: its log has offsets instead of addresses
// for them.
#pragma once

#include "abi/ring.hpp"
#include "import/access_log.hpp"

#include <span>

namespace mmioscope::verify {

/// Makes the addresses of such lines absolute, if they belong to a region of the trace.
void place_aliased(importing::AccessLog& log, std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
