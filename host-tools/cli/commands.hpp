// The commands of mmioscope: a row each, which stands in a file of its own. main.cpp has the list.
#pragma once

#include "cli/program.hpp"

#include <string>

namespace mmioscope::cli {

struct Command {
    const char* name;
    const char* help; ///< one line, for --help and the manual
    /// Adds the command's options to `command`, which outlives what is returned: what it does once
    /// they have been read. `command_line` is the whole one, as it is written into files.
    Action (*add)(CLI::App& command, const std::string& command_line);
};

extern const Command run_command;
extern const Command record_command;
extern const Command print_command;
extern const Command follow_command;
extern const Command stat_command;
extern const Command top_command;
extern const Command info_command;
extern const Command ctl_command;
extern const Command at_start_command;
extern const Command blackbox_command;
extern const Command check_command;
extern const Command verify_command;
extern const Command export_command;
extern const Command import_command;

} // namespace mmioscope::cli
