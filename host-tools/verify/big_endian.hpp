// Device models that QEMU has as big-endian: it swaps what goes to them and comes from them, and
// logs their side of it. The trace has the bus's.
#pragma once

#include "logs/access_log.hpp"

namespace mmioscope::verify {

/// Makes the values of such lines the bus's, each in the bytes of its size.
void swap_big_endian(logs::AccessLog& log);

} // namespace mmioscope::verify
