// Which of the traced accesses become records: what is asked for each of them.
#pragma once

#include "trace/filter.hpp"
#include "trace/trigger.hpp"

namespace mmioscope {

struct Choice {
    bool any{}; ///< false: all do, and nothing below is looked at
    Filter filter;
    Trigger trigger;
};

} // namespace mmioscope
