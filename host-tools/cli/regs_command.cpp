#include "analysis/register_classes.hpp"
#include "cli/commands.hpp"
#include "cli/view_options.hpp"
#include "reading/trace.hpp"
#include "system/error.hpp"

#include <memory>
#include <span>

namespace mmioscope::cli::regs_command {

namespace {

struct Options {
    ViewOptions view;
    std::string device;
    bool describe = false; ///< a description instead of the table
};

constexpr char footer[] = R"(
Prints a line for each register of DEV that was accessed, by offset: what it is, and by what evidence.

  values, written  different values that were read and written, up to 16
  class            storage, w1c (a one clears the bit), set, clear (of another register), self-clear, status, counter, fifo;
                   constant so far, counter so far, storage so far, never read back and unclear: the accesses do not
                   show more

DEV is the name of a device, with or without its address. docs/regs.md defines the classes. Memory: 1 KiB for each
register, at most 4096. After a loss or a reset no earlier value counts. -F, --cpu, --from and --to choose the accesses
that are looked at: a write that they leave out makes the evidence wrong.

Examples:
  mmioscope regs mmc boot.mmio
  mmioscope regs serial0 --format csv boot.mmio
  mmioscope regs serial0 --describe boot.mmio -o serial.regs      to be corrected, and used with --registers

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read, or has no access to DEV.
)";

Status regs(const Options& options) {
    const reading::TraceOptions selection = trace_options(options.view);
    reading::Trace trace(selection);
    view::Output out(options.view.output);
    view::Tally tally(reading::selects(selection));
    analysis::RegisterClasses classes(options.device);
    reading::DriveOptions how = drive_options(options.view, "read");
    how.losses = reading::Losses::all;
    reading::drive(trace, {&tally, &classes}, how);
    if (classes.empty()) {
        throw bad_input("the trace has no access to a device '{}'", options.device);
    }
    if (options.describe) {
        const std::string text = classes.description(
            registers::list_devices(trace.reader().regions(), trace.reader().tree()));
        return finish_with_tables(options.view, {}, out, tally, trace.reader(), text);
    }
    const table::Table table = classes.table();
    return finish_with_tables(options.view, std::span(&table, 1), out, tally, trace.reader());
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    command.add_option("device", options->device, "Name of the device: mmc@50000, mmc")->required();
    add_view_options(command, options->view);
    add_format_option(command, options->view, "one register per line");
    command.add_flag(
        "--describe", options->describe,
        "Print a description for --registers (mmioscope-registers(5)) instead of a table");
    add_wide_option(command, options->view);
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return regs(*options); };
}

} // namespace

const Command row{"regs", "Show what a device's registers are, by their accesses", add};

} // namespace mmioscope::cli::regs_command
