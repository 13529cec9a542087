// The commands of mmioscope. Each is a row in a file and namespace of its own; main.cpp has the
// list.
#pragma once

#include "cli/program.hpp"

#include <string>

namespace mmioscope::cli {

struct Command {
    const char* name;
    const char* help; ///< one line, for --help and the manual
    /// Adds the command's options to `command`, which must outlive the returned action. The action
    /// runs the command after the options are parsed. `command_line` is the complete one, as it is
    /// written into files.
    Action (*add)(CLI::App& command, const std::string& command_line);
};

// clang-format off
namespace plan_command { extern const Command row; }
namespace run_command { extern const Command row; }
namespace record_command { extern const Command row; }
namespace print_command { extern const Command row; }
namespace follow_command { extern const Command row; }
namespace stat_command { extern const Command row; }
namespace polls_command { extern const Command row; }
namespace phases_command { extern const Command row; }
namespace calls_command { extern const Command row; }
namespace sharing_command { extern const Command row; }
namespace advise_command { extern const Command row; }
namespace regs_command { extern const Command row; }
namespace report_command { extern const Command row; }
namespace open_command { extern const Command row; }
namespace top_command { extern const Command row; }
namespace note_command { extern const Command row; }
namespace info_command { extern const Command row; }
namespace at_command { extern const Command row; }
namespace why_command { extern const Command row; }
namespace gen_command { extern const Command row; }
namespace diff_command { extern const Command row; }
namespace ctl_command { extern const Command row; }
namespace at_start_command { extern const Command row; }
namespace blackbox_command { extern const Command row; }
namespace check_command { extern const Command row; }
namespace verify_command { extern const Command row; }
namespace export_command { extern const Command row; }
namespace import_command { extern const Command row; }
// clang-format on

} // namespace mmioscope::cli
