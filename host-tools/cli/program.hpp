// Runs a program with commands, from its command line to its exit status.
#pragma once

#include "system/error.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace mmioscope::cli {

/// What main() does after the command line is parsed.
using Action = std::function<Status()>;

/// Parses the command line with `app`, whose commands set `action`, and runs the action. Prints an
/// error as one line on standard error, with the program's name. Returns the exit status.
int run_program(CLI::App& app, const Action& action, int argc, char** argv);

} // namespace mmioscope::cli
