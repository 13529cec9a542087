// The accesses of a trace that QEMU's log must contain.
#pragma once

#include "file/trace_reader.hpp"
#include "logs/access.hpp"
#include "records/losses.hpp"

#include <vector>

namespace mmioscope::verify {

struct Events {
    std::vector<logs::Event> all; ///< in the order of the file: nothing is sorted
    trace::LossCounter holes;     ///< records that the trace itself lacks
    std::uint64_t records = 0;    ///< of all types
};

/// Reads `reader` to its end: records of type access and own, and faults by an external abort
/// (the access was on the bus).
Events read_events(trace::TraceReader& reader);

} // namespace mmioscope::verify
