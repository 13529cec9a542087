// The option that chooses CPUs.
#pragma once

#include <CLI/CLI.hpp>

#include <vector>

namespace mmioscope::cli {

/// --cpu: numbers and ranges (0,2-3); may be repeated.
void add_cpus(CLI::App& command, std::vector<unsigned>& to);

} // namespace mmioscope::cli
