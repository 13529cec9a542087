// mmioscope: records, prints and proves the device accesses of an unmodified Linux.
#include "abi/container.hpp"
#include "cli/commands.hpp"
#include "lib/origin.hpp"

namespace {

using namespace mmioscope;

struct Command {
    std::string_view name;
    std::function<void(CLI::App&, cli::Action&)> add;
};

std::vector<Command> commands(const std::string& command_line) {
    return {
        {"run", [=](CLI::App& app, cli::Action& to) { cli::add_run(app, to, command_line); }},
        {"record", [=](CLI::App& app, cli::Action& to) { cli::add_record(app, to, command_line); }},
        {"print", cli::add_print},
        {"follow", cli::add_follow},
        {"stat", cli::add_stat},
        {"top", cli::add_top},
        {"info", cli::add_info},
        {"ctl", cli::add_ctl},
        {"at-start", cli::add_at_start},
        {"blackbox", cli::add_blackbox},
        {"check", cli::add_check},
        {"verify", cli::add_verify},
        {"export", cli::add_export},
        {"import", cli::add_import},
    };
}

// The one that `word` names, and all of them if it names none: their options are hundreds.
void add_commands(CLI::App& app, cli::Action& action, std::vector<Command> all,
                  std::string_view word) {
    const auto named = [word](const Command& command) { return command.name == word; };
    const bool one = std::any_of(all.begin(), all.end(), named);
    for (const Command& command : all) {
        if (!one || named(command)) {
            command.add(app, action);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Traces every device access of an unmodified Linux under a small hypervisor.\n"
                 "Exit status: 0 fine, 1 failed or incomplete, 2 bad input, 130 interrupted.",
                 "mmioscope");
    app.require_subcommand(1);
    app.set_version_flag("--version", // MMIOSCOPE_VERSION: the file VERSION, from host.mk
                         fmt::format("mmioscope {}, trace files of format {}.{}", MMIOSCOPE_VERSION,
                                     abi::file_version_major, abi::file_version_minor));
    cli::Action action;
    add_commands(app, action, commands(trace::command_text({argv, static_cast<std::size_t>(argc)})),
                 argc > 1 ? argv[1] : "");
    return cli::run_program(app, action, argc, argv);
}
