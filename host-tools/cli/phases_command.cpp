#include "analysis/phases.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::cli::phases_command {

namespace {

struct Options {
    ViewOptions view;
    std::vector<std::string> by; ///< empty: all
    std::string gap = "100ms";
};

constexpr char footer[] = R"(
Prints a trace as phases, in the order of time. A phase begins with

  marker   a mark in the trace (mmioscope ctl mark, or the guest): its name is the mark's text
  probe    a driver's first access to a device: its name is the function, and its caller. The driver is the function's
           module; in the kernel itself what the function's name begins with, up to a '_'. One function that goes from
           device to device is one phase
  idle     the first access after at least --gap without one; those to the interrupt controller do not count
  start    the first access of the trace

  begin, seconds   from its first event to its last access that is not the interrupt controller's
  idle             the time without an access in front of it
  polls, polled    the loops of mmioscope polls that begin in it, and the time from their first access to their last
  event            its first (mmioscope print --at)
  devices          with their accesses, those with most first, the interrupt controller last

docs/phases.md says more. -F, --cpu, --from and --to choose the accesses that are looked at: those left out make gaps.

Examples:
  mmioscope phases boot.mmio
  mmioscope phases --by marker boot.mmio
  mmioscope phases --gap 500ms -F '!dev==interrupt-controller' boot.mmio

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read.
)";

analysis::PhaseOptions phase_options(const Options& options) {
    const auto wanted = [&options](const char* word) {
        return options.by.empty() || std::ranges::count(options.by, word) > 0;
    };
    const std::uint64_t gap = duration_of("--gap", options.gap);
    return {wanted("marker"), wanted("probe"), wanted("idle") ? gap : 0};
}

Status phases(const Options& options) {
    const reading::TraceOptions selection = trace_options(options.view);
    analysis::Phases phases(phase_options(options));
    reading::Trace trace(selection);
    return print_table(
        options.view, trace, phases, [&] { return phases.table(); }, reading::Losses::all);
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_values(command, "--by", options->by,
               "Begin phases only with these; separate several with commas", ',')
        ->check(one_of({"marker", "probe", "idle"}));
    command.add_option("--gap", options->gap, "The shortest idle gap (default 100ms; 0: none)")
        ->type_name("TIME");
    add_format_option(command, options->view, "one table row per line, numbers not rounded");
    add_wide_option(command, options->view);
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return phases(*options); };
}

} // namespace

const Command row{"phases", "Show a boot as phases: markers, probes, idle gaps", add};

} // namespace mmioscope::cli::phases_command
