#include "analysis/sharing.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"

#include <limits>
#include <memory>

namespace mmioscope::cli::sharing_command {

namespace {

struct Options {
    ViewOptions view;
    std::size_t limit = 20;
    bool all = false;
};

constexpr char footer[] = R"(
Prints what CPUs do with the same registers. Likely bugs, a line for each:

  lost update      a candidate: a function read a register, another CPU wrote it, and the function wrote it with the bits
                   that it had read; "what": the bits that were lost, as the other CPU wrote them
  never ended      an interrupt that a CPU acknowledged (GICC_IAR) and did not end (GICC_EOIR)

With --all, behind these, also what most drivers have:

  shared register, shared page    several CPUs used it
  never read back  a register that was written, and not read after that

  cpus, reads, writes    of the register or page
  function, other function   lost update: who wrote last, and whose write was lost; shared: who made the two accesses, by
                         two CPUs, that were closest in time; others: who wrote last, or acknowledged
  apart us               time between these two; event: the later one (mmioscope print --at)

docs/sharing.md defines each finding, and says what it cannot see. Registers that each CPU has for itself, those of the
GIC, are not shared. Nothing is concluded across a loss. -F, --cpu, --from and --to choose the accesses that are looked
at: what they leave out can make findings appear or disappear.

Examples:
  mmioscope sharing boot.mmio
  mmioscope sharing --all --limit 0 --format csv boot.mmio

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read. Findings do not change it.
)";

Status sharing(const Options& options) {
    const reading::TraceOptions selection = trace_options(options.view);
    reading::Trace trace(selection);
    view::Output out(options.view.output);
    reading::Tally tally(reading::selects(selection));
    analysis::Sharing sharing;
    reading::DriveOptions how = drive_options(options.view, "read");
    how.losses = reading::Losses::all;
    reading::drive(trace, {&tally, &sharing}, how);
    const table::Table table = sharing.table(
        options.limit == 0 ? std::numeric_limits<std::size_t>::max() : options.limit, options.all);
    return finish_with_tables(options.view, std::span(&table, 1), out, tally, trace.reader());
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_count(command, "-n,--limit", options->limit, "Lines of each finding (default 20; 0: all)");
    command.add_flag("--all", options->all,
                     "Also what is only information: shared registers and pages, and registers "
                     "that are never read back");
    add_format_option(command, options->view, "one table row per line, numbers not rounded");
    add_wide_option(command, options->view);
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return sharing(*options); };
}

} // namespace

const Command row{"sharing", "Show lost updates, open interrupts, registers that CPUs share", add};

} // namespace mmioscope::cli::sharing_command
