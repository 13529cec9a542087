// The commands of mmioscope, one file each.
#pragma once

#include "cli/program.hpp"

namespace mmioscope::cli {

// Each adds its command to `app`; if the user asked for it, `action` is what it does.
// `command_line` is what those that record write into their files.
void add_run(CLI::App& app, Action& action, const std::string& command_line);
void add_record(CLI::App& app, Action& action, const std::string& command_line);
void add_print(CLI::App& app, Action& action);
void add_follow(CLI::App& app, Action& action);
void add_stat(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_at_start(CLI::App& app, Action& action);
void add_ctl(CLI::App& app, Action& action);
void add_blackbox(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_verify(CLI::App& app, Action& action);
void add_export(CLI::App& app, Action& action);
void add_import(CLI::App& app, Action& action);

} // namespace mmioscope::cli
