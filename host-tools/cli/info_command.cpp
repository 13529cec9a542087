#include "cli/commands.hpp"
#include "cli/event_progress.hpp"
#include "cli/name_options.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "info/text.hpp"
#include "reading/trace.hpp"
#include "view/tally.hpp"

#include <memory>
#include <string>

namespace mmioscope::cli {

namespace {

struct Options {
    ViewOptions view;
    bool coverage = false;
};

constexpr char footer[] = R"(
Coverage is counted over the registers that were accessed, however often each was. --registers takes
  FILE.regs                        descriptions in mmioscope's own format (mmioscope-registers(5))
  FILE.svd                         a CMSIS-SVD file, whose peripherals are found by their addresses
  FILE.svd:PERIPHERAL=COMPATIBLE   one of its peripherals, for devices with that `compatible`

Examples:
  mmioscope info boot.mmio
  mmioscope info --coverage boot.mmio                    # which registers have no names yet
  mmioscope info --coverage --registers soc.regs boot.mmio
  mmioscope info --dtb board.dtb stream.mmio             # recorded over a wire: it has no device tree

Exit status: 0 the trace is whole, 1 it is cut, damaged or lacks records, 2 it cannot be read.)";

Status info(const Options& options) {
    reading::Trace trace(trace_options(options.view));
    view::Output out(options.view.output);
    registers::Coverage coverage;
    trace::Summary summary;
    trace::Selections selections;
    std::uint64_t last = 0;
    EventProgress progress(true, "read");
    while (const Event* event = trace.next()) {
        progress.count();
        summary.add(std::span(event->record, 1));
        selections.add(*event->record, trace.reader().regions());
        coverage.add(*event);
        last = event->nanoseconds;
    }
    progress.clear();
    const trace::TraceReader& reader = trace.reader();
    if (options.coverage) {
        fmt::print(out.file(), "{}", info::unnamed_text(coverage));
    } else {
        const auto context = view::report_context(reader, reader.start().value_or(0));
        fmt::print(out.file(), "{}\n{}\n{}", info::head_text(reader, summary, last),
                   info::devices_text(reader, trace.naming().devices(), selections),
                   info::selections_text(selections, context, reader.regions().size()));
    }
    fmt::print(out.file(), "{}", info::coverage_text(coverage));
    out.close();
    return view::is_whole(reader) ? Status::fine : Status::failed;
}

} // namespace

void add_info(CLI::App& app, Action& action) {
    CLI::App& command =
        *app.add_subcommand("info", "Print what a trace is, and what its devices are");
    const auto options = std::make_shared<Options>();
    add_input_options(command, options->view);
    add_one_file_option(command, options->view);
    add_file(command, "-o,--output", options->view.output, "Write here, not to standard output");
    command.add_flag("--coverage", options->coverage, "Print what has no name, and how much has");
    add_name_options(command, options->view.trace);
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return info(*options); }; });
}

} // namespace mmioscope::cli
