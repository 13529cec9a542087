// Converts an mmiotrace log to a trace.
#pragma once

#include "import/importing.hpp"
#include "system/byte_source.hpp"

namespace mmioscope::importing {

/// `first` and `second` provide the same log, each from its start: one pass finds the regions, the
/// other writes the accesses to `fd`. Throws Error (bad_input) if the log has nothing usable.
Report import_mmiotrace(ByteSource& first, ByteSource& second, int fd);

} // namespace mmioscope::importing
