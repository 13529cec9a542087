// mmioscope: records, prints and proves the device accesses of an unmodified Linux.
#include "abi/container.hpp"
#include "cli/commands.hpp"
#include "file/texts.hpp"
#include "system/file_descriptor.hpp"
#include "system/signals.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace {

using namespace mmioscope;

struct Group {
    const char* title; ///< in --help, which scripts read
    std::vector<const cli::Command*> commands;
};

// In the order of --help.
const Group groups[] = {
    {"Commands to record",
     {&cli::plan_command::row, &cli::run_command::row, &cli::record_command::row,
      &cli::ctl_command::row, &cli::at_start_command::row}},
    {"Commands to look at a trace",
     {&cli::print_command::row, &cli::follow_command::row, &cli::stat_command::row,
      &cli::top_command::row, &cli::phases_command::row, &cli::polls_command::row,
      &cli::calls_command::row, &cli::sharing_command::row, &cli::advise_command::row,
      &cli::info_command::row, &cli::note_command::row, &cli::check_command::row,
      &cli::blackbox_command::row}},
    {"Commands for one device",
     {&cli::at_command::row, &cli::why_command::row, &cli::regs_command::row,
      &cli::gen_command::row}},
    {"Commands to compare", {&cli::diff_command::row, &cli::verify_command::row}},
    {"Commands to share",
     {&cli::report_command::row, &cli::open_command::row, &cli::export_command::row,
      &cli::import_command::row}},
};

// The command of the first argument that names one; null: none does.
const cli::Command* asked_for(std::span<char*> words) {
    for (const std::string_view word : words.subspan(std::min<std::size_t>(1, words.size()))) {
        for (const Group& group : groups) {
            for (const cli::Command* command : group.commands) {
                if (command->name == word) {
                    return command;
                }
            }
        }
    }
    return nullptr;
}

CLI::App& add(CLI::App& app, const cli::Command& command) {
    return *app.add_subcommand(command.name, command.help);
}

// Adds the command that the user named, with its options; without one, all of them by name only,
// because they have hundreds of options.
void add_commands(CLI::App& app, cli::Action& action, std::span<char*> words) {
    if (const cli::Command* const command = asked_for(words)) {
        CLI::App& one = add(app, *command);
        action = command->add(one, trace::command_text(words));
        return;
    }
    for (const Group& group : groups) {
        for (const cli::Command* command : group.commands) {
            add(app, *command).group(group.title);
        }
    }
}

// `help COMMAND` is `COMMAND --help`, and nothing at all is `--help`.
void ask_for_help(std::vector<char*>& words) {
    static char help[] = "--help";
    if (words.size() == 1) {
        words.push_back(help);
    } else if (words.size() > 1 && words[1] == std::string_view("help")) {
        words.erase(words.begin() + 1);
        words.push_back(help);
    }
}

} // namespace

int main(int argc, char** argv) {
    open_standard_descriptors();
    note_signals();
    CLI::App app("Trace every device access of an unmodified Linux with a small hypervisor.\n"
                 "Exit status: 0 fine, 1 failed or incomplete, 2 bad input, 130 interrupted.",
                 "mmioscope");
    app.require_subcommand(1);
    app.set_version_flag("--version", // MMIOSCOPE_VERSION: the file VERSION, from host.mk
                         fmt::format("mmioscope {}, trace files of format {}.{}", MMIOSCOPE_VERSION,
                                     abi::file_version_major, abi::file_version_minor));
    std::vector<char*> words(argv, argv + argc);
    ask_for_help(words);
    cli::Action action;
    add_commands(app, action, words);
    const int status = cli::run_program(app, action, static_cast<int>(words.size()), words.data());
    return argc == 1 && status == 0 ? static_cast<int>(Status::bad_input) : status;
}
