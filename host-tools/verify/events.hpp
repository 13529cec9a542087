// The accesses of a trace that QEMU's log must contain.
#pragma once

#include "file/trace_reader.hpp"
#include "file/unfinished.hpp"
#include "import/access.hpp"
#include "records/losses.hpp"

#include <vector>

namespace mmioscope::verify {

struct Events {
    std::vector<importing::Event> all; ///< in the order of the file, unsorted
    trace::LossCounter holes;     ///< records missing in the trace itself
    std::uint64_t records = 0;    ///< number of records of all types
    std::vector<trace::UnfinishedAccess> unfinished;
};

/// Reads `reader` to its end: records of type access and own, faults by an external abort (these
/// accesses were on the bus), and what may have been there: walks, and faults that do not know.
Events read_events(trace::TraceReader& reader);

} // namespace mmioscope::verify
