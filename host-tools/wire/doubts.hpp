// What is wrong with a stream as a whole.
#pragma once

#include "wire/wire_decoder.hpp"

#include <string>

namespace mmioscope::wire {

/// Why the trace of a stream that has an end may be incomplete although no record is known to be
/// lost; empty if there is no reason.
std::string doubts(const WireDecoder& decoder);

/// The counts, as lines of a trace's text.
std::string text_of(const WireCounts& counts);

} // namespace mmioscope::wire
