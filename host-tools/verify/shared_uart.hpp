// The accesses by which the stream leaves through the guest's own UART (abi/shared_wire.hpp).
#pragma once

#include "abi/ring.hpp"
#include "import/access_log.hpp"

#include <span>

namespace mmioscope::verify {

/// Leaves them out of `log`, where they stand between the guest's, and counts them. The hypervisor
/// makes two for each byte: it reads whether there is room, and stores. A store is the stream's if
/// what the UART sends for it is. So the guest's own accesses to the UART are compared like all
/// others.
void leave_out_shared(importing::AccessLog& log, std::span<const abi::RegionEntry> regions);

} // namespace mmioscope::verify
