#include "analysis/calls.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"

#include <memory>

namespace mmioscope::cli::calls_command {

namespace {

using analysis::CallsBy;

struct Options {
    ViewOptions view;
    std::size_t limit = 20;
    std::string by = "function";
    bool tree = false;
};

constexpr char footer[] = R"(
Prints what the functions with probes did (run --probe; --returns for all but the number of calls). A line for each, those
that took most time first:

  calls, returns  a call of schedule() by a task that ends never returns; others may have no record of their return
  total to max    from a call to its return, with all that came in between: interrupts, other tasks, and what the probes cost
  accesses        to traced devices, by the function and all that it called; not by interrupts
  event           the call that took longest (mmioscope print --at)

With --tree a function is shown below the probed one that called it. Its CSV has the whole path, joined by `;`.

Examples:
  mmioscope run --probe 'mmc_*' --returns ... -o boot.mmio
  mmioscope calls boot.mmio
  mmioscope calls --by caller -F 'func==mmc_wait_for_req' boot.mmio
  mmioscope calls --tree --limit 0 boot.mmio

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read.
)";

Status calls(const Options& options) {
    reading::Trace trace(trace_options(options.view));
    const auto calls = analysis::make_calls(options.tree             ? CallsBy::tree
                                            : options.by == "caller" ? CallsBy::caller
                                            : options.by == "task"   ? CallsBy::task
                                                                     : CallsBy::function,
                                            options.limit);
    calls->begin(trace.reader());
    return print_table(options.view, trace, *calls, [&] { return calls->table(); });
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_count(command, "-n,--limit", options->limit, "Lines of the table (default 20; 0: all)");
    CLI::Option* const by = command.add_option(
        "--by", options->by,
        "A line for each function (default), function and caller, or function and task");
    by->check(one_of({"function", "caller", "task"}));
    command
        .add_flag("--tree", options->tree, "Show a function below the probed one that called it")
        ->excludes(by);
    add_wide_option(command, options->view);
    add_format_option(command, options->view, "one table row per line, numbers not rounded");
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return calls(*options); };
}

} // namespace

const Command row{"calls", "Show what the functions with probes did, and how long it took", add};

} // namespace mmioscope::cli::calls_command
