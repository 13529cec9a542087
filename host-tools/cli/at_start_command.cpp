#include "abi/chosen.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/program.hpp"
#include "run/early_requests.hpp"
#include "run/probes.hpp"
#include "symbols/kernel_image.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

#include <memory>

namespace mmioscope::cli::at_start_command {

namespace {

struct Options {
    std::string tree;
    std::string kernel;
    std::vector<std::string> probes;
    bool returns = false;
    std::uint64_t memory = 0;
    std::vector<std::string> commands;
};

constexpr char footer[] = R"(
Prints lines for U-Boot. Type them, or put them into a script, after `fdt addr` and `fdt resize`. Each COMMAND is a
command of `mmioscope ctl` in one argument, except status, statistics, flush and snapshot, which need a running guest. A
tree has room for 32 requests; a device is one for each of its ranges. Under QEMU, use `mmioscope run --at-start`.

Example:
  mmioscope at-start --dtb board.dtb 'trigger start address mmc@50000+0xc direction w' 'deselect serial0'
  mmioscope at-start --kernel zImage
  mmioscope at-start --kernel zImage --memory 0x80000000 --probe mmci_request,sample=10

Exit status: 0, or 2 if a command, the tree or the kernel cannot be used.
)";

std::string requests_property(const Options& options) {
    const run::Bytes tree = run::read_input(options.tree, "device tree");
    run::check_tree(tree, options.tree);
    return run::property_text(run::early_requests(options.commands, tree, ""));
}

std::string task_names_property(const std::string& kernel) {
    const run::Bytes image = run::read_input(kernel, "kernel");
    std::optional<symbols::TaskOffsets> where;
    try {
        where = symbols::read_kernel_image(image).task_offsets;
    } catch (const Error& error) {
        throw bad_input("{}: {}", kernel, error.what());
    }
    if (!where) {
        throw bad_input("{}: cannot find the place of the names of tasks; kernels before 5.16 "
                        "have no task in TPIDRURO",
                        kernel);
    }
    return fmt::format("{} \"<{:#x} {:#x}>\"", abi::chosen::task_names, where->comm, where->pid);
}

Status print_properties(const Options& options) {
    if (options.commands.empty() && options.kernel.empty()) {
        throw bad_input("nothing to print: give a COMMAND or --kernel");
    }
    if (options.commands.empty() && !options.tree.empty()) {
        throw bad_input("--dtb {}: of no use without a COMMAND", options.tree);
    }
    std::string lines;
    if (!options.commands.empty()) {
        lines += fmt::format("fdt set /chosen {}\n", requests_property(options));
    }
    if (!options.kernel.empty()) {
        lines += fmt::format("fdt set /chosen {}\n", task_names_property(options.kernel));
    }
    if (!options.probes.empty()) {
        const run::Probes probes =
            run::probes_of(options.probes, options.returns,
                           run::read_input(options.kernel, "kernel"), options.memory);
        if (!probes.of_modules.empty()) {
            throw bad_input("--probe MODULE:FUNCTION: use ctl when the module is loaded");
        }
        lines += fmt::format("fdt set /chosen {} \"<{:#x}>\"\n", abi::chosen::probes,
                             fmt::join(probes.cells, " "));
    }
    write_output(lines);
    return status_of_output(Status::fine);
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_file(command, "--dtb", options->tree, "Board's device tree");
    add_file(command, "--kernel", options->kernel,
             "Kernel (zImage): also print the line that makes the hypervisor name its tasks");
    auto* const kernel = command.get_option("--kernel");
    auto* const probes = add_values(command, "--probe", options->probes,
                                    "Probe this function of --kernel, as with mmioscope run");
    probes->needs(kernel)->type_name("FUNCTION");
    command.add_flag("--returns", options->returns, "Of these, record each return, too")
        ->needs(probes);
    probes->needs(
        command
            .add_option("--memory", options->memory, "Where the board's memory begins, for --probe")
            ->type_name("ADDRESS"));
    command.add_option("command", options->commands, "Applied before the guest starts")
        ->type_name("COMMAND");
    command.footer(std::string(control::commands_help) + control::probe_options_help + footer);
    return [options] { return print_properties(*options); };
}

} // namespace

const Command row{"at-start",
                  "Print U-Boot lines that apply commands of ctl before the guest starts", add};

} // namespace mmioscope::cli::at_start_command
