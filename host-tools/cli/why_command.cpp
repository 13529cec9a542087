#include "analysis/register_state.hpp"
#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "reading/tally.hpp"
#include "reading/trace.hpp"
#include "system/error.hpp"
#include "system/message.hpp"
#include "tree/device_names.hpp"
#include "view/print_output.hpp"

#include <memory>
#include <optional>
#include <span>

namespace mmioscope::cli::why_command {

namespace {

struct Options {
    ViewOptions view;
    std::uint64_t number = 0;
};

constexpr char footer[] = R"(
Prints the access with this number, and what happened to its register before: the previous write, the previous read and,
for a read, the last write of the value that it got. The last line says which bits changed since the access before; those of
watched memory that no CPU stored were changed by another master, by DMA. To go back further, ask for the number of one of
these lines.

Numbers are those of print --number, diff, and at.

Examples:
  mmioscope print --number -F 'reg==Status' boot.mmio    find the access ...
  mmioscope why 71602 boot.mmio                          ... and who made its register so
  mmioscope why 71602 --format jsonl boot.mmio

Exit status: 0 fine, 1 the trace is damaged, or lacks records before the access, 2 it cannot be read, or has no such access.)";

/// The first event that comes.
struct First final : reading::Consumer {
    void add(const Event& event) override { first = first ? first : event; }
    std::optional<Event> first;
};

// Only its record and number are used: the names belong to this reading.
Event access_of(const Options& options, reading::TraceOptions selection) {
    selection.numbers = {options.number, options.number};
    reading::Trace trace(selection);
    First found;
    reading::drive(trace, {&found}, drive_options(options.view, nullptr));
    if (!found.first || found.first->record.type != abi::RecordType::access) {
        throw bad_input("{}: event {} is not an access of the guest, or there is none",
                        selection.path, options.number);
    }
    return *found.first;
}

Status why(const Options& options) {
    reading::TraceOptions selection = file_options(options.view, "why");
    const Event access = access_of(options, selection);
    selection.numbers = {1, options.number};
    reading::Trace trace(selection);
    view::Output out(options.view.output);
    const auto causes = analysis::make_causes(
        access, access.record.device == tree::guest_memory_in(trace.reader().regions()));
    reading::Tally tally(true);
    reading::DriveOptions how = drive_options(options.view, "read");
    how.losses = reading::Losses::all;
    reading::drive(trace, {&tally, causes.get()}, how);
    const table::Table table = causes->table();
    print_tables(options.view, std::span(&table, 1), out,
                 view::short_names(trace.reader(), width(options.view, out)));
    out.close();
    const Status status = tally.status_so_far(trace.reader());
    if (status != Status::fine) {
        print_message("mmioscope: warning: the trace is damaged or lacks records: an earlier "
                      "access may be missing\n");
    }
    return status;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    command
        .add_option("number", options->number, "The number of an access, as print --number says")
        ->required()
        ->check(count_from(1));
    add_input_options(command, options->view);
    add_one_file_option(command, options->view);
    add_file(command, "-o,--output", options->view.output,
             "Output file (default: standard output)");
    add_name_options(command, options->view.trace);
    add_code_option(command, options->view);
    add_wide_option(command, options->view);
    add_format_option(command, options->view, "one access per line");
    command.footer(footer);
    return [options] { return why(*options); };
}

} // namespace

const Command row{"why", "Print which accesses gave a register its value", add};

} // namespace mmioscope::cli::why_command
