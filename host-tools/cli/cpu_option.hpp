// The option that chooses CPUs.
#pragma once

#include <CLI/CLI.hpp>

#include <vector>

namespace mmioscope::cli {

/// --cpu: numbers and ranges of them (0,2-3), several by repeating.
void add_cpus(CLI::App& command, std::vector<unsigned>& to);

} // namespace mmioscope::cli
