// Which traced accesses become records: the filter and the trigger that each of them has to pass.
#pragma once

#include "trace/filter.hpp"
#include "trace/trigger.hpp"

namespace mmioscope {

struct Choice {
    bool any{}; ///< false: all accesses do; the rest is not read
    Filter filter;
    Trigger trigger;

    /// Whether an access whose begin record is `begin` is certain to become a record
    /// (Pattern::surely_matches).
    bool surely_takes(const abi::Record& begin, bool several) const {
        return !any || (!trigger.active() && filter.one_in == 1 &&
                        filter.pattern.surely_matches(begin, several));
    }
};

} // namespace mmioscope
