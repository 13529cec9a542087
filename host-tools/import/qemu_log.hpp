// Converts QEMU's log of accesses (import/access_log.hpp) to a trace.
#pragma once

#include "import/importing.hpp"
#include "system/byte_source.hpp"

namespace mmioscope::importing {

/// Writes the trace to `fd`. Throws Error (bad_input) if the log has no accesses.
Report import_qemu_log(ByteSource& log, int fd);

} // namespace mmioscope::importing
