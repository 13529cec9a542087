// Detects a source that is a trace file instead of a stream.
#pragma once

#include "transport/address.hpp"

namespace mmioscope::record {

/// Throws Error (bad_input) if a file, compressed or not, stands at `source`, or is standard input,
/// that begins as a trace. Of anything else no byte is taken.
void check_no_trace(const transport::Address& source);

} // namespace mmioscope::record
