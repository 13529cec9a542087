#include "analysis/register_state.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "reading/trace.hpp"
#include "system/message.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <system_error>

namespace mmioscope::cli::at_command {

namespace {

struct Options {
    ViewOptions view;
    std::string time;
};

constexpr char footer[] = R"(
Prints two lines for each register that was accessed before TIME: its last write and its last read, in order of time.
That is the state of the devices at TIME, as far as the trace shows it: a device may have changed a register since it
was last read. At most 4096 registers; -F and --cpu choose others.

Examples:
  mmioscope at 14.5 boot.mmio                         every register, after 14.5 s
  mmioscope at 14.5 -F 'dev==mmc' boot.mmio           one device
  mmioscope at @18.04 --format csv boot.mmio          a time of the machine's counter, for a program

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read.)";

/// Which accesses need names: found by a reading of its own, if the trace can be read twice. Else
/// nothing is known.
analysis::LastAccesses::Found last_accesses(reading::TraceOptions selection) {
    analysis::LastAccesses last;
    std::error_code problem;
    if (std::filesystem::is_regular_file(selection.path, problem)) {
        selection.report = [](const std::string&) {}; // the other reading reports it
        reading::Trace trace(selection);
        reading::drive(trace, {&last});
    }
    return last.found();
}

/// Whether the trace has nothing at the time `to` or later, if it can be read twice.
bool ends_before(const reading::TraceOptions& selection) {
    reading::TraceOptions later;
    later.path = selection.path;
    later.one_file = selection.one_file;
    later.from = selection.to;
    later.report = [](const std::string&) {};
    std::error_code problem;
    return std::filesystem::is_regular_file(later.path, problem) && !reading::Trace(later).next();
}

Status at(const Options& given) {
    const ViewOptions& options = given.view;
    reading::TraceOptions selection = trace_options(options);
    selection.to = time_of("TIME", given.time);
    reading::Trace trace(selection);
    view::Output out(options.output);
    reading::Tally tally(reading::selects(selection));
    analysis::RegisterState state(last_accesses(selection));
    reading::drive(trace, {&tally, &state}, drive_options(options, "read"));
    const table::Table table = state.table();
    if (ends_before(trace.options())) {
        print_message("mmioscope: {}: the trace ends before that time: the state at its end\n",
                      for_terminal(selection.path));
    }
    return finish_with_tables(options, std::span(&table, 1), out, tally, trace.reader());
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    ViewOptions& view = options->view;
    command
        .add_option("time", options->time,
                    "In seconds or with a unit (1.5, 20ms); with @ in front, of the machine's "
                    "counter (@18.04)")
        ->check(not_empty())
        ->required();
    add_input_options(command, view);
    add_one_file_option(command, view);
    add_file(command, "-o,--output", view.output, "Output file (default: standard output)");
    add_event_options(command, view);
    add_name_options(command, view.trace);
    add_strict_option(command, view);
    add_code_option(command, view);
    add_wide_option(command, view);
    add_format_option(command, view, "one access per line, with the register and its fields");
    add_pager_option(command, view);
    command.footer(footer);
    return [options] { return at(*options); };
}

} // namespace

const Command row{"at", "Print the state of the registers at a time", add};

} // namespace mmioscope::cli::at_command
