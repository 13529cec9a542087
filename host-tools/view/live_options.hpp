// How to print a trace during the recording.
#pragma once

#include "reading/trace.hpp"
#include "view/line.hpp"
#include "view/printer.hpp"

namespace mmioscope::view {

struct LiveOptions {
    bool all = false;             ///< every record: no collapsed loops, no limit
    bool verbose = false;         ///< include the hypervisor's counters
    PrintOptions print;           ///< except its limit and `collapse`
    reading::TraceOptions events; ///< which events, and their names; its path and wait are unused
    LineStyle look;               ///< except what the trace itself says
};

} // namespace mmioscope::view
