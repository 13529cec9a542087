#include "cli/commands.hpp"
#include "cli/view_options.hpp"
#include "lib/signals.hpp"
#include "view/printer.hpp"
#include "view/tally.hpp"

#include <functional>
#include <memory>

namespace mmioscope::cli {

namespace {

constexpr char footer[] = R"(
FILE is what mmioscope run -o or record -o is writing, in this or another process; - is a pipe. Prints until the recording
ends, or until Ctrl-C, and then the table and the verdict of what came up to there. What is compressed with zstd meanwhile
comes in zstd's blocks.

Examples:
  mmioscope follow boot.mmio
  mmioscope follow --cpu 1 --all boot.mmio | grep mmc

Exit status as of print; 130 after Ctrl-C.
)";

// Ctrl-C is looked for while there is nothing to read, and every so many events.
constexpr std::uint64_t events_between_looks = 4096;

// Nothing if the user had enough before the trace had a head.
std::optional<reading::Trace> open(const reading::TraceOptions& selection, const bool& stopped) {
    try {
        return std::make_optional<reading::Trace>(selection);
    } catch (const Error&) {
        if (!stopped) {
            throw;
        }
        return std::nullopt;
    }
}

Status follow(const ViewOptions& options) {
    reading::TraceOptions selection = trace_options(options);
    Signals signals;
    std::unique_ptr<view::Printer> printer;
    bool stopped = false;
    selection.wait = [&] {
        if (printer) {
            printer->flush();
        }
        stopped = stopped || signals.pending();
        return !stopped && !(printer && printer->broken());
    };
    std::optional<reading::Trace> opened = open(selection, stopped);
    if (!opened) {
        return Status::interrupted;
    }
    reading::Trace& trace = *opened;
    view::Output out(options.output);
    const view::LineStyle style = line_style(options, trace.reader(), out);
    printer = std::make_unique<view::Printer>(
        out.file(), view::PrintOptions{.collapse = !options.all && out.terminal()}, style);
    view::Tally tally(reading::selects(selection));
    std::uint64_t events = 0;
    while (const Event* event = stopped ? nullptr : trace.next()) {
        check_strict(options, trace, *event);
        tally.add(*event);
        printer->add(*event);
        if (printer->broken()) {
            break;
        }
        stopped = ++events % events_between_looks == 0 && signals.pending();
    }
    printer->finish();
    fmt::print(out.file(), "\n{}{}", tally.tables(trace.reader()), tally.verdict(trace.reader()));
    out.close();
    return stopped ? Status::interrupted : view::status_of(trace.reader());
}

} // namespace

void add_follow(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand("follow", "Print a trace while it is being recorded");
    const auto options = std::make_shared<ViewOptions>();
    add_view_options(command, *options);
    add_line_options(command, *options);
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return follow(*options); }; });
}

} // namespace mmioscope::cli
