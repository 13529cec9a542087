// Finds marks in a trace: they stand for times in a range.
#pragma once

#include "reading/trace.hpp"

namespace mmioscope::reading {

/// `options` with times in place of the marks that `from` and `to` name: the first one of that name
/// from `from` on, for `to` behind `from`'s. Reads the trace as far as needed if there are any.
/// Throws Error (bad_input) if the trace lacks one, or cannot be read twice.
TraceOptions with_times_of_marks(TraceOptions options);

} // namespace mmioscope::reading
