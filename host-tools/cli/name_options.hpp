// The options that say where names come from, beside the trace itself.
#pragma once

#include "reading/trace.hpp"

#include <CLI/CLI.hpp>

namespace mmioscope::cli {

/// --symbols, --registers, --dtb.
void add_name_options(CLI::App& command, reading::TraceOptions& options);

} // namespace mmioscope::cli
