// Detects a source that is a trace file instead of a stream.
#pragma once

#include "wire/address.hpp"

namespace mmioscope::record {

/// Throws Error (bad_input) if `source` is a file or standard input that begins like a trace,
/// compressed or not. Consumes no bytes of anything else.
void check_no_trace(const wire::Address& source);

} // namespace mmioscope::record
