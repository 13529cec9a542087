// Runs a program with commands, from its command line to its exit status.
#pragma once

#include "system/error.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace mmioscope::cli {

/// What main() is to do once the command line is understood.
using Action = std::function<Status()>;

/// Writes `text`, which is all there is, to standard output. Throws Error (failed).
void write_output(const std::string& text);

/// Reads the command line by `app`, whose commands set `action`, and does that. Says what went
/// wrong in one line on standard error, with the program's name. Returns the exit status.
int run_program(CLI::App& app, const Action& action, int argc, char** argv);

} // namespace mmioscope::cli
