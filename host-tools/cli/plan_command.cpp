#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "plan/board_plan.hpp"
#include "system/replaced_file.hpp"
#include "system/units.hpp"
#include "tree/device_tree.hpp"
#include "view/print_output.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mmioscope::cli::plan_command {

namespace {

struct Options {
    ViewOptions view;
    std::string memory; ///< BASE+SIZE; empty: as in the tree
    bool at_top = false;
};

constexpr char footer[] = R"(
Reads a board's device tree as the hypervisor would at the boot, and prints first whether this version can trace the
board, with everything that it misses, then what the boot loader must supply, where the hypervisor would lie, CPUs, UARTs
and interrupt controller, the devices with those in the same page, and the commands for U-Boot.

Many packaged trees leave the memory's size to the boot loader: say it with --memory (U-Boot: bdinfo), or pass the tree of
the running board (/sys/firmware/fdt). docs/boards.md lists what is known of boards.

Examples:
  mmioscope plan sun8i-h3-orangepi-pc.dtb --memory 0x40000000+1G
  mmioscope plan board.dtb --format jsonl

Exit status: 0 nothing is missing, 1 something is, 2 it cannot be read.
)";

std::optional<mmioscope::Range> memory_of(const std::string& text) {
    if (text.empty()) {
        return {};
    }
    const std::size_t plus = text.find('+');
    const std::string_view all = text;
    const std::uint64_t base = parse_number(all.substr(0, plus)).value_or(1); // 1: no whole page
    const std::uint64_t size =
        plus == std::string::npos ? 0 : parse_size(all.substr(plus + 1)).value_or(0);
    constexpr std::uint64_t reach = std::uint64_t{1} << 32; // of stage 2
    if (size == 0 || base >= reach || size > reach - base || (base | size) % page_size != 0) {
        throw bad_input("--memory: '{}' is not BASE+SIZE in whole pages below 4 GiB, such as "
                        "0x40000000+1G",
                        text);
    }
    return mmioscope::Range{base, base + size};
}

Status plan(const Options& options) {
    const std::optional<mmioscope::Range> memory = memory_of(options.memory);
    check_distinct(options.view.output.empty() ? "-" : options.view.output, {options.view.file});
    const auto tree = tree::read_tree(options.view.file);
    std::unique_ptr<plan::Survey> board;
    try {
        board = std::make_unique<plan::Survey>(tree, memory, options.at_top);
    } catch (const Error& error) {
        throw bad_input("{}: {}", options.view.file, error.what());
    }
    view::Output out(options.view.output);
    {
        const view::Pager pager(pages(options.view, out));
        print_tables(options.view, plan::tables(*board), out);
        out.close();
    }
    return board->faults.empty() ? Status::fine : Status::failed;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_file(command, "file", options->view.file, "The board's flattened device tree (.dtb)");
    command.get_option("file")->required();
    add_file(command, "-o,--output", options->view.output,
             "Output file (default: standard output)");
    command
        .add_option("--memory", options->memory,
                    "The board's memory, instead of the tree's: 0x40000000+1G")
        ->check(not_empty())
        ->type_name("BASE+SIZE");
    add_place(command, options->at_top);
    add_format_option(command, options->view, "one row per statement, device and command");
    add_wide_option(command, options->view);
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return plan(*options); };
}

} // namespace

const Command row{"plan", "Show whether and how a board can be traced, by its device tree", add};

} // namespace mmioscope::cli::plan_command
