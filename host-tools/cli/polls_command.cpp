#include "analysis/poll.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"

#include <cstdint>
#include <memory>

namespace mmioscope::cli::polls_command {

namespace {

struct Options {
    ViewOptions view;
    std::size_t limit = 20;
};

constexpr char footer[] = R"(
Prints where the guest waits: loops that read a register until it changes, or until the code gives up. A line for each
register that a function polls, those that took most time first:

  until      the bits that changed when the loop ended, and what they became; "not 0x90": they never did
  class      poll, or handshake: the loop carries data, as to a FIFO, whenever the register lets it
  times      loops; reads: of the register in all of them
  total, max from a loop's first access to its last, with all that came in between
  by value   loops that ended when the register changed; given up: the code stopped waiting before that; unended: the
             trace ended first
  event      where the longest begins (mmioscope print --at)

docs/polls.md defines what a loop is. A loop of two reads shows nothing that a single read would not, and is left out.
-F, --cpu, --from and --to choose the accesses that are looked at: without those of the interrupt controller, what a
handler does cannot be told from what it interrupts.

Examples:
  mmioscope polls boot.mmio
  mmioscope polls --limit 0 --format csv boot.mmio
  mmioscope print --fold boot.mmio                   each of these loops as one line

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read.
)";

Status polls(const Options& options) {
    reading::Trace trace(trace_options(options.view));
    analysis::PollTable polls;
    return print_table(options.view, trace, polls,
                       [&] { return polls.table(options.limit == 0 ? SIZE_MAX : options.limit); });
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_count(command, "-n,--limit", options->limit, "Lines of the table (default 20; 0: all)");
    add_wide_option(command, options->view);
    add_format_option(command, options->view, "one table row per line, numbers not rounded");
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return polls(*options); };
}

} // namespace

const Command row{"polls", "Show where the guest polls, and how long it waits", add};

} // namespace mmioscope::cli::polls_command
