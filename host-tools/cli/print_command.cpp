#include "cli/commands.hpp"
#include "cli/followed_path.hpp"
#include "cli/option_types.hpp"
#include "cli/page_output.hpp"
#include "cli/view_options.hpp"
#include "reading/tally.hpp"
#include "records/shares.hpp"
#include "system/error.hpp"
#include "system/message.hpp"
#include "system/replaced_file.hpp"
#include "view/dmesg_lines.hpp"
#include "view/print_output.hpp"
#include "view/printer.hpp"
#include "view/short_tables.hpp"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

namespace mmioscope::cli::print_command {

namespace {

struct Options {
    ViewOptions view;
    bool summary = false;
    bool no_summary = false;
    bool follow = false;
    bool shares = false;
    std::optional<std::uint64_t> limit;
    std::optional<std::uint64_t> last;
    bool numbers = false;
    bool stack = false;
    std::optional<std::uint64_t> at; ///< number of an event
    std::uint64_t before = 0, after = 0, around = 0;
};

constexpr char footer[] = R"(
Known names replace numbers: the register its offset, the function the PC, followed by <- and the caller, then the task.
The fields of a register follow its value. --raw prints numbers. On a terminal, accesses in a quarter second that are
equal in all but time are one line with a count, if no other access to their register lies between them (--no-collapse:
a line for each). The last line is the verdict.

--changes prints the first value of each register, and then what changes it, by a read or a write: the old and the new
value, + and the name of a bit that was set, - of one that was cleared, and fields as FIELD 1 -> 3.
--columns: on a terminal that is too narrow, task, caller and function are shortened or left out first.

--dmesg takes the output of dmesg or of the console, with printk's times. Traces of mmioscope run and of record --console
contain the console. printk's time 0 is found from the lines that left by a traced UART: the smallest delay between a
line's own time and its first character. It is a little too late: by the time that this line took from printk to the
UART. If no UART is traced, the times at which lines reached the host are used. --dmesg-offset sets it.

Examples:
  mmioscope print boot.mmio
  mmioscope print --from 14.5 --to 15 --cpu 1 boot.mmio
  mmioscope print --all --ts delta boot.mmio | grep mmc
  mmioscope print --no-collapse -F 'reg==SYS_LED' boot.mmio
  mmioscope print --changes -F 'dev==mmc' boot.mmio    what each access changes
  mmioscope print --stack -F 'reg==SYS_LED' boot.mmio   who wrote to the LED (mmioscope run --stack gpio)
  mmioscope print --columns time,reg,value,fields -F 'dev==mmc' boot.mmio
  mmioscope print --last 20 --no-summary boot.mmio     the last 20 events
  mmioscope print --number -F 'reg==Clock' boot.mmio   with event numbers ...
  mmioscope print --at 71602 -C 20 boot.mmio           ... and the 20 events on either side of one
  mmioscope print --from @18.04 --to @18.05 --duration boot.mmio   times of the machine's counter, as in blackbox
  mmioscope print --during mmci_request -F 'dev==mmc' boot.mmio   accesses between its calls and their returns
  mmioscope print --fold boot.mmio                     each loop that waits for a register as one line
  mmioscope print --dmesg boot.mmio                  with the kernel's log between the accesses
  mmioscope print --dmesg dmesg.txt boot.mmio
  mmioscope print --format jsonl --cpu 0 boot.mmio | head -n 20 | jq .
  ssh board cat /run/boot.mmio | mmioscope print --summary -

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read.
)";

view::PrintOptions print_options(const Options& options, const view::Output& out) {
    view::PrintOptions print = print_options(options.view, out);
    print.collapse = options.view.collapse.value_or(print.collapse && !options.at);
    print.collapse = print.collapse && !options.view.changes && !options.stack;
    print.changes = options.view.changes;
    print.stacks = options.stack;
    print.own = print.own || options.at;
    print.numbers = options.numbers || options.at;
    print.last = options.last.value_or(print.last);
    print.limit = options.summary ? 0 : options.limit.value_or(print.limit);
    return print;
}

// No progress line if event lines scroll by.
const char* progress_of(const Options& options, bool terminal) {
    return terminal && !options.summary && !options.last ? nullptr : "read";
}

/// Counts each CPU's accesses to devices that several use.
class SharesConsumer final : public reading::Consumer {
public:
    void add(const Event& event) override { shares.add(std::span(&event.record, 1)); }
    trace::Shares shares;
};

reading::TraceOptions selection_of(const Options& options) {
    reading::TraceOptions selection = trace_options(options.view);
    if (options.at) {
        const std::uint64_t before =
            std::min(std::max(options.before, options.around), *options.at - 1);
        const std::uint64_t after =
            std::min(std::max(options.after, options.around), UINT64_MAX - *options.at);
        selection.numbers = {*options.at - before, *options.at + after};
    } else if (options.before + options.after + options.around > 0) {
        throw bad_input("-A, -B and -C need --at N, the event around which to print");
    }
    return selection;
}

/// The number of events in the trace if it can be read from its end; else 0. Not if accesses may
/// have begun and never ended: their lines are the last ones, wherever they began.
std::uint64_t events_to_skip_in(reading::TraceOptions selection) {
    selection.numbers = {UINT64_MAX, UINT64_MAX};
    reading::Trace trace(selection);
    trace.next();
    return trace.reader().may_begin() ? 0 : trace.reader().records_read();
}

/// The event from which to read for the last `print.last` lines, if nothing needs those before it:
/// reads more and more of the end, until there are enough lines. It leaves room for a window of
/// collapsed accesses, since the first one may lack some.
std::optional<std::uint64_t> first_of_last(const Options& options, reading::TraceOptions selection,
                                           const view::PrintOptions& print) {
    const bool needs_all = !options.last || !options.no_summary || options.at || options.limit ||
                           options.view.with_dmesg || options.shares || options.view.fold ||
                           !options.view.during.empty() || options.view.changes || options.stack;
    std::error_code problem;
    if (needs_all || !std::filesystem::is_regular_file(selection.path, problem)) {
        return std::nullopt;
    }
    selection.report = [](const std::string&) {}; // the other reading reports it
    const std::uint64_t events = events_to_skip_in(selection);
    const std::uint64_t lines = std::min(print.last, events) + analysis::Collapse::most_runs;
    const view::Output nobody("/dev/null");
    for (std::uint64_t count = lines; count < events / 2; count *= 8) {
        const std::uint64_t first = events - count + 1;
        reading::Trace trace(selection);
        trace.seek_number(first);
        view::Printer printer(nobody.file(), print, view::style_of(trace.reader()));
        reading::drive(trace, {&printer});
        if (printer.lines() >= lines) {
            return first;
        }
    }
    return std::nullopt;
}

void warn_of_nothing(const Options& options, const reading::Tally& tally) {
    if (options.at && tally.summary().records() == 0) {
        print_message("mmioscope: warning: the trace has no event {}, or it was not selected\n",
                      *options.at);
    }
}

// For programs: only the events, with the verdict on standard error.
Status print_records(const Options& options) {
    const reading::TraceOptions selection = selection_of(options);
    reading::Trace trace(selection);
    RecordOutput records(options.view, trace.reader());
    Merging merging(options.view, records);
    reading::Tally tally(reading::selects(selection));
    reading::drive(
        trace, {&tally, &merging.first()},
        drive_options(options.view, progress_of(options, options.view.output.empty() &&
                                                             ::isatty(STDOUT_FILENO) != 0)));
    warn_of_nothing(options, tally);
    print_message("{}", tally.verdict(trace.reader()));
    return tally.status(trace.reader());
}

Status print(const Options& options) {
    if (options.view.fold && options.view.with_dmesg) {
        throw bad_input("--fold and --dmesg exclude each other: lines of the log stand between the "
                        "accesses");
    }
    if (options.view.changes && (options.view.fold || options.view.collapse.value_or(false))) {
        throw bad_input("--changes excludes --fold and --collapse: each change has its line");
    }
    if (options.stack && (options.view.fold || options.view.changes ||
                          options.view.collapse.value_or(false) || options.view.format != "text")) {
        throw bad_input("--stack excludes --fold, --changes, --collapse and --format: the stack "
                        "stands below its event's line");
    }
    if (options.view.format != "text") {
        return print_records(options);
    }
    const reading::TraceOptions selection = selection_of(options);
    reading::Trace trace(selection);
    std::optional<view::DmesgLines> dmesg = dmesg_lines(options.view, trace.options());
    view::Output out(options.view.output);
    const view::Pager pager(pages(options.view, out));
    view::LineStyle style = line_style(options.view, trace.reader(), out);
    style.selected = reading::selects(selection);
    view::PrintOptions print = print_options(options, out);
    if (const auto first = first_of_last(options, trace.options(), print)) {
        trace.seek_number(*first);
        print.of_end = true;
    }
    view::Printer printer(out.file(), print, style);
    reading::Tally tally(reading::selects(selection) || print.of_end);
    SharesConsumer shares;
    if (dmesg) {
        dmesg->print_to(printer, trace.reader());
    }
    analysis::Fold fold(printer);
    reading::Consumer* events =
        options.view.fold ? static_cast<reading::Consumer*>(&fold) : &printer;
    if (dmesg) {
        events = &*dmesg;
    }
    const reading::Driven driven =
        reading::drive(trace, {&tally, options.shares ? &shares : nullptr, events},
                       drive_options(options.view, progress_of(options, out.terminal())));
    if (driven.ended != reading::Ended::enough) {
        const trace::TraceReader& reader = trace.reader();
        if (!options.summary && printer.not_printed() > 0) {
            fmt::print(out.file(), "... {} more events, not printed\n", printer.not_printed());
        }
        std::vector<std::string> left_out;
        add_left_out(left_out, printer.left_out(), "accesses to registers",
                     analysis::LastValues::most);
        for (const std::string& line : left_out) {
            fmt::print(out.file(), "{}\n", line);
        }
        if (options.shares) {
            const auto context = view::report_context(reader, reader.start().value_or(0));
            const std::size_t wide = width(options.view, out);
            fmt::print(out.file(), "\n{}",
                       view::fitted_text(shares.shares.table(context),
                                         view::short_names(reader, wide), wide));
        }
        if (!options.no_summary) {
            fmt::print(out.file(), "\n{}{}",
                       view::end_tables(tally.summary(), reader, width(options.view, out),
                                        options.view.verbose),
                       tally.verdict(reader));
        }
    }
    out.close();
    warn_of_nothing(options, tally);
    const Status status = tally.status(trace.reader());
    if (options.no_summary && status != Status::fine) {
        print_message("{}", tally.verdict(trace.reader()));
    } else if (!trace.reader().end()) {
        print_message("mmioscope: warning: the trace is cut off; the events above are right\n");
    }
    return status;
}

Status print_or_follow(const Options& options) {
    if (options.summary && options.no_summary) {
        throw bad_input("--summary and --no-summary exclude each other: nothing would be printed");
    }
    if (options.summary) {
        check_no_lines(options.view, "changes lines of events, and --summary prints none");
        if (options.limit || options.last || options.numbers) {
            throw bad_input("--summary prints no events: -n, --last and --number change nothing");
        }
    }
    const bool of_lines = options.last || options.view.with_dmesg || options.summary ||
                          options.shares || options.numbers || options.view.changes ||
                          options.stack;
    if (!options.follow) {
        if (options.view.format != "text" &&
            (of_lines || options.limit || !options.view.columns.empty())) {
            throw bad_input("--format {} has every event that -F, --cpu, --from and --to select, "
                            "and nothing else: it cannot be combined with -n, --last, --number, "
                            "--columns, --changes, --summary, --shares or --dmesg",
                            options.view.format);
        }
        return print(options);
    }
    const bool around = options.at || options.before + options.after + options.around > 0;
    if (of_lines || options.no_summary || around || options.view.fold) {
        throw bad_input("-f cannot be combined with --at, -A, -B, -C, --last, --number, --changes, "
                        "--dmesg, --summary, --no-summary, --shares or --fold");
    }
    return follow_trace(options.view, options.limit.value_or(reading::DriveOptions().limit));
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_view_options(command, options->view);
    add_during_option(command, options->view);
    add_line_options(command, options->view);
    add_merge_options(command, options->view);
    add_column_options(command, options->view);
    command.add_flag("--number", options->numbers, "Print the number of each event, for --at");
    add_count(command, "--at", options->at, "Print only event N, with context from -A, -B, -C", 1);
    add_count(command, "-A", options->after, "N events after the one of --at");
    add_count(command, "-B", options->before, "N events before the one of --at");
    add_count(command, "-C", options->around, "N events on either side of the one of --at");
    command.add_flag(
        "--stack", options->stack,
        "Below each access the functions that called its own, for devices of mmioscope "
        "run --stack");
    command.add_flag("--summary", options->summary, "Print only the table and the verdict");
    command.add_flag(
        "--no-summary", options->no_summary,
        "Print no table and no verdict; a verdict other than complete goes to standard error");
    command.add_flag("-f,--follow", options->follow,
                     "Read on as the file grows, as mmioscope follow does");
    command.add_flag(
        "--shares", options->shares,
        "For each shared device, print each CPU's share of the accesses and its waiting time");
    add_dmesg_options(command, options->view, "Print the kernel's log between the events");
    add_format_option(command, options->view, "one event per line, as in mmioscope export");
    add_count(command, "-n,--limit", options->limit, "Print at most N lines of events");
    add_count(command, "--last", options->last,
              "Print only the last N lines of events; with --no-summary read only the end of FILE");
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return print_or_follow(*options); };
}

} // namespace

const Command row{"print", "Print a saved trace", add};

} // namespace mmioscope::cli::print_command
