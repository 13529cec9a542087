#include "cli/commands.hpp"
#include "cli/name_options.hpp"
#include "export/formats.hpp"
#include "export/whole_trace.hpp"
#include "lib/progress_line.hpp"
#include "reading/trace.hpp"

#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>

namespace mmioscope::cli {

namespace {

struct Options {
    reading::TraceOptions trace;
    std::string format;
    std::string output;
    bool strict = false;
};

constexpr char footer[] = R"(
FORMAT is jsonl or csv (an event a line), sqlite (tables, and views of what people ask), mmiotrace (the text
of Linux' own tracer), ctf (a folder for babeltrace2 or Trace Compass), perfetto
(for ui.perfetto.dev).
A file appears when it is whole. Exit status 1 if the trace is cut off or damaged; what there is of it is exported.

Examples:
  mmioscope export --to csv -i boot.mmio -o boot.csv
  mmioscope export --to jsonl -i boot.mmio -o - | jq -c 'select(.device == "serial0")'
)";

/// "12300000 events", twice a second, where a person sees it and nothing else scrolls by.
class Progress {
public:
    explicit Progress(bool wanted) : line_(wanted) {}

    void operator()(std::uint64_t events) {
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start_;
        line_.show(time.count(), [events] { return fmt::format("{} events exported", events); });
    }
    void clear() { line_.clear(); }

private:
    ProgressLine line_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

void tell(const exporting::Exporter& exporter, const exporting::WholeTrace& whole) {
    for (const std::string& line : exporter.left_out()) {
        fmt::print(stderr, "mmioscope: {}\n", line);
    }
    if (whole.lost() > 0) {
        fmt::print(stderr, "mmioscope: the trace lacks {} records, as the export tells\n",
                   whole.lost());
    }
}

bool whole(const trace::TraceReader& reader) {
    if (!reader.end()) {
        fmt::print(stderr, "mmioscope: the trace is cut off; what there is of it was exported\n");
    } else if (!reader.sound()) {
        fmt::print(stderr, "mmioscope: the trace is damaged; what there is of it was exported\n");
    }
    return reader.sound();
}

Status export_trace(const Options& options) {
    if (options.trace.path == "-" && ::isatty(STDIN_FILENO) != 0) {
        throw bad_input("no trace: say -i FILE, or give it on standard input");
    }
    reading::Trace trace(options.trace);
    const auto destination = exporting::open_destination(options.format, options.output);
    exporting::WholeTrace all(trace, reading::selects(options.trace));
    Progress progress(!destination->terminal());
    all.write(destination->exporter(), [&progress](std::uint64_t n) { progress(n); });
    destination->finish();
    progress.clear();
    tell(destination->exporter(), all);
    const bool fine = whole(trace.reader()) && (!options.strict || all.lost() == 0);
    return fine ? Status::fine : Status::failed;
}

} // namespace

void add_export(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand("export", "Write a trace in a format of others");
    const auto options = std::make_shared<Options>();
    command.add_option("--to", options->format, "What to write")
        ->required()
        ->type_name("FORMAT")
        ->check(CLI::IsMember(exporting::format_names()));
    command.add_option("-i,--input,input", options->trace.path, "Trace file; - for standard input")
        ->type_name("FILE");
    command.add_option("-o,--output", options->output, "Where to; - for standard output")
        ->required()
        ->type_name("OUT");
    command.add_option("-F,--filter", options->trace.filter, "Only events for which this holds")
        ->type_name("EXPR");
    command.add_option("--cpu", options->trace.cpus, "Only events of these CPUs")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->type_name("N[,N]");
    add_name_options(command, options->trace);
    command.add_flag("--no-pc", options->trace.no_pc, "No code addresses, nor what stands there");
    command.add_flag("--strict", options->strict, "Exit status 1 if the trace lacks records, too");
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return export_trace(*options); }; });
}

} // namespace mmioscope::cli
