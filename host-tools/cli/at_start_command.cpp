#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "run/early_requests.hpp"

#include <memory>

namespace mmioscope::cli {

namespace {

struct Options {
    std::string tree;
    std::vector<std::string> commands;
};

constexpr char footer[] = R"(
Prints a line for U-Boot, to be typed or put into a script behind `fdt addr` and `fdt resize`. Each COMMAND is
what `mmioscope ctl` takes, in one argument; `mmioscope run --at-start` does the same under QEMU.

Example:
  mmioscope at-start --dtb board.dtb 'trigger start address mmc@50000+0xc direction w' 'deselect serial0'
)";

Status print_property(const Options& options) {
    const run::Bytes tree = run::read_input(options.tree, "device tree");
    run::check_tree(tree, options.tree);
    fmt::print("fdt set /chosen {}\n",
               run::property_text(run::early_requests(options.commands, tree, "")));
    return Status::fine;
}

} // namespace

void add_at_start(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand(
        "at-start",
        "Print how a boot loader asks for what is to hold from the guest's first instruction on");
    const auto options = std::make_shared<Options>();
    add_file(command, "--dtb", options->tree, "Board's device tree");
    command.add_option("command", options->commands, "What to do before the guest runs")
        ->required()
        ->type_name("COMMAND");
    command.footer(std::string(control::commands_help) + footer);
    command.callback(
        [options, &action] { action = [options] { return print_property(*options); }; });
}

} // namespace mmioscope::cli
