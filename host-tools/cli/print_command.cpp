#include "cli/commands.hpp"
#include "cli/view_options.hpp"
#include "lib/shares.hpp"
#include "view/printer.hpp"
#include "view/tally.hpp"

#include <memory>
#include <optional>

namespace mmioscope::cli {

namespace {

struct Options {
    ViewOptions view;
    bool all = false;
    bool raw = false;
    bool summary = false;
    bool shares = false;
    std::optional<std::uint64_t> limit;
};

constexpr char footer[] = R"(
Names take the place of numbers where they are known: a register's for its offset, the fields of its value, a function's
for the PC, with its caller behind <-, and the task. --raw prints the numbers alone. On a terminal, repeated accesses are
one line with a count, each quarter second. The last line is the verdict.

Examples:
  mmioscope print boot.mmio
  mmioscope print --from 14.5 --to 15 --cpu 1 boot.mmio
  mmioscope print --all --ts delta boot.mmio | grep mmc
  ssh board cat /run/boot.mmio | mmioscope print --summary -

Exit status 0 only if the trace is whole and nothing was lost; 1 if not, 2 if it cannot be read.
)";

view::PrintOptions print_options(const Options& options, const view::Output& out) {
    view::PrintOptions print;
    print.collapse = !options.all && out.terminal();
    print.limit = options.summary ? 0 : options.limit.value_or(print.limit);
    return print;
}

// Of what was read; false if nobody takes the lines any more.
bool print_events(const Options& options, reading::Trace& trace, view::Printer& printer,
                  view::Tally& tally, trace::Shares& shares) {
    while (const Event* event = trace.next()) {
        check_strict(options.view, trace, *event);
        tally.add(*event);
        if (options.shares) {
            shares.add(std::span(event->record, 1));
        }
        printer.add(*event);
        if (printer.broken()) {
            return false;
        }
    }
    printer.finish();
    return true;
}

Status print(const Options& options) {
    const reading::TraceOptions selection = trace_options(options.view);
    reading::Trace trace(selection);
    view::Output out(options.view.output);
    view::LineStyle style = line_style(options.view, trace.reader(), out);
    style.raw = options.raw;
    view::Printer printer(out.file(), print_options(options, out), style);
    view::Tally tally(reading::selects(selection));
    trace::Shares shares;
    if (print_events(options, trace, printer, tally, shares)) {
        const trace::TraceReader& reader = trace.reader();
        if (!options.summary && printer.not_printed() > 0) {
            fmt::print(out.file(), "... {} more events, not printed\n", printer.not_printed());
        }
        if (options.shares) {
            const auto context = view::report_context(reader, reader.start().value_or(0));
            fmt::print(out.file(), "\n{}", shares.table(context));
        }
        fmt::print(out.file(), "\n{}{}", tally.tables(reader), tally.verdict(reader));
    }
    out.close();
    if (!trace.reader().end()) {
        fmt::print(stderr, "mmioscope: warning: the trace is cut off; what is above is right\n");
    }
    return view::status_of(trace.reader());
}

} // namespace

void add_print(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand("print", "Print a saved trace");
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_line_options(command, options->view);
    command.add_flag("--all", options->all, "Each record, also on a terminal");
    command.add_flag("--raw", options->raw, "Numbers instead of names");
    command.add_flag("--summary", options->summary, "Only the table and the verdict");
    command.add_flag("--shares", options->shares,
                     "What each CPU had of devices that several use, and how long it waited");
    command.add_option("--limit", options->limit, "At most so many lines");
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return print(*options); }; });
}

} // namespace mmioscope::cli
