#include "analysis/advice.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"

#include <memory>

namespace mmioscope::cli::advise_command {

namespace {

constexpr char footer[] = R"(
Prints what deserves a look, the most important first: faults, lost updates, interrupts that are never ended, loops that
wait in vain or long, devices that take long, reads behind each write, the slowest access. Each has a number, and an event
for `mmioscope print --at`. docs/advise.md says when a finding is told; it says what the trace shows, and not that it is wrong.

Nothing is concluded across a loss. What -F, --cpu, --from and --to leave out can make findings appear or disappear.

Examples:
  mmioscope advise boot.mmio
  mmioscope advise --format csv boot.mmio

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read. Findings do not change it.
)";

Status advise(const ViewOptions& options) {
    const reading::TraceOptions selection = trace_options(options);
    reading::Trace trace(selection);
    view::Output out(options.output);
    reading::Tally tally(reading::selects(selection));
    analysis::Advisor advisor;
    reading::DriveOptions how = drive_options(options, "read");
    how.losses = reading::Losses::all;
    reading::drive(trace, {&tally, &advisor}, how);
    const auto& info = trace.reader().info();
    const table::Table table = advisor.table(info ? info->counter_frequency : 0);
    return finish_with_tables(options, std::span(&table, 1), out, tally, trace.reader());
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<ViewOptions>();
    add_view_options(command, *options);
    add_format_option(command, *options, "one finding per line");
    add_wide_option(command, *options);
    add_pager_option(command, *options);
    command.footer(footer);
    return [options] { return advise(*options); };
}

} // namespace

const Command row{"advise", "Show what deserves a look: waits, faults, lost updates, slow devices",
                  add};

} // namespace mmioscope::cli::advise_command
