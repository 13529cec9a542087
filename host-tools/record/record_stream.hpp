// One recording of a stream, from the first connection to the verdict.
#pragma once

#include "record/record_options.hpp"
#include "system/error.hpp"

namespace mmioscope::record {

/// Records as `options` say, and reports on standard output. Returns Status::fine only if each boot
/// ended by itself and nothing was lost. Throws Error if the source or the file cannot be opened.
/// The caller must ignore SIGPIPE.
Status record_stream(const Options& options);

} // namespace mmioscope::record
