// How a trace is printed while it is recorded.
#pragma once

#include "reading/trace.hpp"
#include "view/line.hpp"
#include "view/printer.hpp"

namespace mmioscope::view {

struct LiveOptions {
    bool all = false;             ///< each record: loops not collapsed, without a limit
    bool verbose = false;         ///< what the hypervisor counted, too
    PrintOptions print;           ///< but for its limit, and whether it collapses
    reading::TraceOptions events; ///< which, and by what names; its path and wait are not used
    LineStyle look;               ///< but for what the trace itself says
};

} // namespace mmioscope::view
