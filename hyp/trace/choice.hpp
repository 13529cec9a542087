// Which of the traced accesses become records: what is asked for each of them.
#pragma once

#include "trace/filter.hpp"
#include "trace/trigger.hpp"

namespace mmioscope {

struct Choice {
    bool any{}; ///< false: all do, and nothing below is looked at
    Filter filter;
    Trigger trigger;

    /// Whether an access that begins is certain to become a record (Pattern::surely_matches).
    bool surely_takes(const abi::Record& begin, bool several) const {
        return !any || (!trigger.active() && filter.one_in == 1 &&
                        filter.pattern.surely_matches(begin, several));
    }
};

} // namespace mmioscope
