// Requests that come in over the stream's line.
#pragma once

#include "machine/cpu.hpp"

namespace mmioscope {

/// Carries out the next request, if there is one, and gives the reply to the stream. One request at
/// most, and one CPU at a time. The caller holds no region lock and has no step armed.
void serve_line(Cpu& cpu);

} // namespace mmioscope
