// Handles device models that are big-endian in QEMU: it swaps the values, and logs the model's
// side. The trace has the bus's side.
#pragma once

#include "import/access_log.hpp"

namespace mmioscope::verify {

/// Changes the values of such lines to the bus's, within the bytes of their size.
void swap_big_endian(importing::AccessLog& log);

} // namespace mmioscope::verify
