// Requests that come in over the stream's line.
#pragma once

#include "machine/cpu.hpp"

namespace mmioscope {

/// Carries out the next one, if one has come, and leaves its reply to the stream. At most one, by
/// one CPU at a time. On a CPU that holds no region lock and has no step armed.
void serve_line(Cpu& cpu);

} // namespace mmioscope
