// Converts an mmiotrace log to a trace.
#pragma once

#include "import/importing.hpp"
#include "system/byte_source.hpp"

namespace mmioscope::importing {

/// `first` and `second` give the same log, from its start: regions are found before the accesses
/// are written to `fd`. Throws Error (bad_input) if nothing in it can be used.
Report import_mmiotrace(ByteSource& first, ByteSource& second, int fd);

} // namespace mmioscope::importing
