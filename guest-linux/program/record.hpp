// mmioscope-guest record, from end to end.
#pragma once

#include "system/error.hpp"

#include <string>

namespace mmioscope::guest {

struct RecordOptions {
    std::string output;    ///< a file, tcp:HOST:PORT, unix:PATH, or - for standard output
    double time_limit = 0; ///< seconds; 0: none
    bool all = false;      ///< also record the device that carries the trace
};

/// Returns the program's exit status. Throws Error.
Status record(const RecordOptions& options);

} // namespace mmioscope::guest
