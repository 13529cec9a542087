// Prints a trace while it is being recorded, for `follow` and `print -f`.
#pragma once

#include "cli/view_options.hpp"
#include "system/error.hpp"

#include <cstdint>

namespace mmioscope::cli {

/// Ends after `limit` events. Throws Error.
Status follow_trace(const ViewOptions& options, std::uint64_t limit);

} // namespace mmioscope::cli
