#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "export/formats.hpp"
#include "export/output.hpp"
#include "export/part.hpp"
#include "file/part_files.hpp"
#include "system/error.hpp"
#include "system/message.hpp"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

namespace mmioscope::cli::export_command {

namespace {

struct Options {
    ViewOptions view;
    std::string format;
};

constexpr char footer[] = R"(
Output files are written atomically. Exit status: 0 everything was exported, 1 the trace is cut off or damaged (the rest
is exported) or writing failed, 2 bad input.

Examples:
  mmioscope export --as csv -i boot.mmio -o boot.csv
  mmioscope export --as perfetto --from 2 --to 2.5 boot.mmio -o part.perfetto
  mmioscope export --as mmio --from 2 --to 2.5 --no-pc boot.mmio -o part.mmio
  mmioscope export --as jsonl -i boot.mmio -o - | jq -c 'select(.device == "serial0")'
)";

void report(const exporting::Exporter& exporter, std::uint64_t lost) {
    for (const std::string& line : exporter.left_out()) {
        print_message("mmioscope: {}\n", line);
    }
    if (lost > 0) {
        print_message("mmioscope: the trace lacks {} records; the export says which\n", lost);
    }
}

bool whole(const trace::TraceReader& reader) {
    if (!reader.end()) {
        print_message("mmioscope: the trace is cut off; the part before the cut was exported\n");
    } else if (!reader.sound()) {
        print_message("mmioscope: the trace is damaged; the rest was exported\n");
    } else if (!reader.missing_part().empty()) {
        print_message("mmioscope: {}; the rest was exported\n", trace::missing_part_text(reader));
    }
    return reader.sound() && reader.missing_part().empty();
}

// An export in a pipe reads standard input, which needs no name.
ViewOptions with_input(ViewOptions view) {
    if (view.file.empty() && view.input.empty() && ::isatty(STDIN_FILENO) == 0) {
        view.input = "-";
    }
    return view;
}

reading::DriveOptions driving(const Options& options, bool terminal) {
    reading::DriveOptions driving = drive_options(options.view, terminal ? nullptr : "exported");
    driving.strict = options.view.strict ? reading::Strict::whole : reading::Strict::no;
    return driving;
}

/// Exports to a format of other tools.
bool export_events(const Options& options, const exporting::Format& format,
                   const reading::TraceOptions& selection) {
    reading::Trace trace(selection);
    const auto destination = format.open(options.view.output);
    exporting::Exporter& exporter = destination->exporter();
    if (std::filesystem::is_regular_file(selection.path)) {
        exporter.look_ahead(selection.path, selection.one_file);
    }
    exporter.begin(trace.reader());
    reading::DriveOptions drive = driving(options, destination->terminal());
    drive.losses = reading::Losses::all;
    Merging merging(options.view, exporter);
    const reading::Driven driven = reading::drive(trace, {&merging.first()}, drive);
    destination->finish();
    report(exporter, driven.lost);
    return whole(trace.reader());
}

/// Exports to a trace.
bool export_part(const Options& options, reading::TraceOptions selection) {
    exporting::Part part(
        {chosen_words(options.view), reading::selects(selection), selection.no_pc});
    selection.sections = [&part](const trace::Section& section) { part.add_section(section); };
    reading::Trace trace(selection);
    exporting::Output output(options.view.output);
    part.begin(trace, output.fd(), output.name());
    reading::drive(trace, {&part}, driving(options, output.terminal()));
    output.finish();
    return whole(trace.reader());
}

Status export_trace(const Options& options) {
    const reading::TraceOptions selection = trace_options(with_input(options.view));
    const exporting::Format& format = exporting::format_of(options.format);
    const bool collapse = options.view.collapse.value_or(false);
    if ((collapse || options.view.fold) && format.open == nullptr) {
        throw bad_input("{} and --as mmio exclude each other: a trace has every access",
                        collapse ? "--collapse" : "--fold");
    }
    const bool all = format.open == nullptr ? export_part(options, selection)
                                            : export_events(options, format, selection);
    return all ? Status::fine : Status::failed;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_input_options(command, options->view);
    add_one_file_option(command, options->view);
    command.add_option("--as", options->format, "Output format")
        ->required()
        ->type_name("FORMAT")
        ->check(one_of(names_of(exporting::formats())));
    command
        .add_option("-o,--output", options->view.output,
                    "Output file, for ctf a folder; - for standard output")
        ->required()
        ->check(not_empty())
        ->type_name("OUT");
    add_event_options(command, options->view);
    add_range_options(command, options->view);
    add_name_options(command, options->view.trace);
    add_strict_option(command, options->view);
    add_code_option(command, options->view);
    add_merge_options(command, options->view);
    command.footer(lines_of(exporting::formats()) + footer);
    return [options] { return export_trace(*options); };
}

} // namespace

const Command row{"export", "Convert a trace, or a part of it, to another format", add};

} // namespace mmioscope::cli::export_command
