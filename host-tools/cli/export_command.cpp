#include "cli/commands.hpp"
#include "cli/event_progress.hpp"
#include "cli/name_options.hpp"
#include "cli/view_options.hpp"
#include "export/formats.hpp"
#include "export/output.hpp"
#include "export/part.hpp"
#include "export/whole_trace.hpp"
#include "lib/error.hpp"
#include "lib/part_files.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace mmioscope::cli {

namespace {

struct Options {
    ViewOptions view;
    std::string format;
};

constexpr char footer[] = R"(
FORMAT is jsonl or csv (an event a line), sqlite (tables, and views of what people ask), mmiotrace (the text
of Linux' own tracer), ctf (a folder for babeltrace2 or Trace Compass), perfetto
(for ui.perfetto.dev), mmio (a trace again, of what was selected).
A file appears when it is whole. Exit status 1 if the trace is cut off or damaged; what there is of it is exported.

Examples:
  mmioscope export --to csv -i boot.mmio -o boot.csv
  mmioscope export --to perfetto --from 2 --until 2.5 boot.mmio -o part.perfetto
  mmioscope export --to mmio --from 2 --until 2.5 --no-pc boot.mmio -o part.mmio
  mmioscope export --to jsonl -i boot.mmio -o - | jq -c 'select(.device == "serial0")'
)";

constexpr char trace_format[] = "mmio";

// What is damaged or missing behind the last event has none that would tell of it.
void check_end(const trace::TraceReader& reader) {
    if (!reader.sound()) {
        throw failure("the trace is {}: stopped (--strict)", reader.end() ? "damaged" : "cut off");
    }
    if (!reader.missing_part().empty()) {
        throw failure("{}: stopped (--strict)", trace::missing_part_text(reader));
    }
}

/// Stands between the trace and its export, and stops it where --strict says so.
class Strict : public exporting::Exporter {
public:
    Strict(exporting::Exporter& behind, const ViewOptions& options, const reading::Trace& trace)
        : behind_(behind), options_(options), trace_(trace) {}

    void begin(const trace::TraceReader& reader) override { behind_.begin(reader); }
    void add(const Event& event) override {
        check_strict(options_, trace_, event);
        behind_.add(event);
    }
    void finish() override {
        check_end(trace_.reader());
        behind_.finish();
    }

private:
    exporting::Exporter& behind_;
    const ViewOptions& options_;
    const reading::Trace& trace_;
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
    } else if (!reader.missing_part().empty()) {
        fmt::print(stderr, "mmioscope: {}; what there is was exported\n",
                   trace::missing_part_text(reader));
    }
    return reader.sound() && reader.missing_part().empty();
}

// As on a command line; empty: all of it.
std::string words_of(const ViewOptions& view) {
    std::string words;
    const auto add = [&words](std::string_view option, const std::string& value) {
        words +=
            value.empty() ? "" : fmt::format("{}{}{}", words.empty() ? "" : " ", option, value);
    };
    add("--from ", view.from);
    add("--until ", view.to);
    add("--cpu ", fmt::format("{}", fmt::join(view.trace.cpus, ",")));
    add("-F ", view.trace.filter);
    add("", view.trace.one_file ? "--one-file" : "");
    add("", view.trace.no_pc ? "--no-pc" : "");
    return words;
}

// Standard input needs no name: it is what an export in a pipe reads.
ViewOptions with_input(ViewOptions view) {
    if (view.file.empty() && view.input.empty() && ::isatty(STDIN_FILENO) == 0) {
        view.input = "-";
    }
    return view;
}

/// Into a format of others.
bool export_events(const Options& options, const reading::TraceOptions& selection) {
    reading::Trace trace(selection);
    const auto destination = exporting::open_destination(options.format, options.view.output);
    exporting::WholeTrace all(trace, reading::selects(selection) || trace.reader().part());
    EventProgress progress(!destination->terminal(), "exported");
    Strict strict(destination->exporter(), options.view, trace);
    if (std::filesystem::is_regular_file(selection.path)) {
        destination->exporter().look_ahead(selection.path, selection.one_file);
    }
    exporting::Exporter& exporter =
        options.view.strict ? static_cast<exporting::Exporter&>(strict) : destination->exporter();
    all.write(exporter, [&progress](std::uint64_t n) { progress.show(n); });
    destination->finish();
    progress.clear();
    tell(destination->exporter(), all);
    return whole(trace.reader());
}

/// Into a trace.
bool export_part(const Options& options, reading::TraceOptions selection) {
    exporting::Part part({words_of(options.view), reading::selects(selection), selection.no_pc});
    selection.sections = [&part](const trace::Section& section) { part.take(section); };
    reading::Trace trace(selection);
    exporting::Output output(options.view.output);
    EventProgress progress(!output.terminal(), "exported");
    part.begin(trace, output.fd());
    while (const Event* const event = trace.next()) {
        check_strict(options.view, trace, *event);
        part.add(*event);
        progress.count();
    }
    if (options.view.strict) {
        check_end(trace.reader());
    }
    part.finish();
    output.finish();
    progress.clear();
    return whole(trace.reader());
}

Status export_trace(const Options& options) {
    const reading::TraceOptions selection = trace_options(with_input(options.view));
    const bool all = options.format == trace_format ? export_part(options, selection)
                                                    : export_events(options, selection);
    return all ? Status::fine : Status::failed;
}

} // namespace

void add_export(CLI::App& app, Action& action) {
    CLI::App& command = *app.add_subcommand(
        "export", "Write a trace, or a part of it, in a format of others or as a trace");
    const auto options = std::make_shared<Options>();
    std::vector<std::string> formats = exporting::format_names();
    formats.emplace_back(trace_format);
    add_input_options(command, options->view);
    add_one_file_option(command, options->view);
    command.add_option("--to", options->format, "What to write")
        ->required()
        ->type_name("FORMAT")
        ->check(CLI::IsMember(formats));
    command.add_option("-o,--output", options->view.output, "Where to; - for standard output")
        ->required()
        ->type_name("OUT");
    add_event_options(command, options->view);
    add_range_options(command, options->view, "--until");
    add_name_options(command, options->view.trace);
    add_strict_option(command, options->view);
    add_code_option(command, options->view);
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return export_trace(*options); }; });
}

} // namespace mmioscope::cli
