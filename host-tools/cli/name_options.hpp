// Options for names that the trace itself does not have.
#pragma once

#include "reading/trace.hpp"

#include <CLI/CLI.hpp>

namespace mmioscope::cli {

/// --symbols, --registers, --dtb.
void add_name_options(CLI::App& command, reading::TraceOptions& options);

/// --registers.
void add_registers(CLI::App& command, std::vector<std::string>& to);

} // namespace mmioscope::cli
