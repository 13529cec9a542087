// Device models that QEMU maps through an alias: for these its log has offsets instead of
// addresses.
#pragma once

#include "abi/ring.hpp"
#include "logs/access_log.hpp"

#include <span>

namespace mmioscope::verify {

/// Makes the addresses of such lines absolute, where a region of the trace is the one meant.
void place_aliased(logs::AccessLog& log, std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
