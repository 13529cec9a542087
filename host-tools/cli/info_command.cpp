#include "cli/commands.hpp"
#include "cli/name_options.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "info/items.hpp"
#include "info/text.hpp"
#include "reading/trace.hpp"
#include "view/tally.hpp"

#include <algorithm>
#include <iterator>
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
  mmioscope info --format jsonl boot.mmio | jq 'select(.about == "device" and .traced == "no").name'
  mmioscope info --dtb board.dtb stream.mmio             # recorded over a wire: it has no device tree

Exit status: 0 the trace is whole, 1 it is cut, damaged or lacks records, 2 it cannot be read.)";

/// What is gathered as the events are read.
class Found final : public reading::Consumer {
public:
    explicit Found(const trace::TraceReader& reader) : reader_(reader) {}

    void add(const Event& event) override {
        summary.add(event.record);
        selections.add(event.record, reader_.regions());
        coverage.add(event);
        last = event.nanoseconds;
    }

    registers::Coverage coverage;
    trace::Summary summary;
    trace::Selections selections;
    std::uint64_t last = 0; ///< ns

private:
    const trace::TraceReader& reader_;
};

std::string text(reading::Trace& trace, const Found& found, bool coverage) {
    const trace::TraceReader& reader = trace.reader();
    if (coverage) {
        return info::unnamed_text(found.coverage) + info::coverage_text(found.coverage);
    }
    const auto context = view::report_context(reader, reader.start().value_or(0));
    return fmt::format("{}\n{}\n{}{}", info::head_text(reader, found.summary, found.last),
                       info::devices_text(reader, trace.naming().devices(), found.selections),
                       info::selections_text(found.selections, context, reader.regions().size()),
                       info::coverage_text(found.coverage));
}

info::Items items(reading::Trace& trace, const Found& found, bool coverage) {
    const trace::TraceReader& reader = trace.reader();
    info::Items all;
    const auto append = [&all](info::Items more) {
        std::ranges::move(more, std::back_inserter(all));
    };
    if (coverage) {
        append(info::unnamed_items(found.coverage));
    } else {
        const auto context = view::report_context(reader, reader.start().value_or(0));
        append(info::head_items(reader, found.summary, found.last));
        append(info::device_items(reader, trace.naming().devices(), found.selections));
        append(info::selection_items(found.selections, context, reader.regions().size()));
    }
    append(info::coverage_items(found.coverage));
    return all;
}

Status info(const Options& options) {
    reading::Trace trace(trace_options(options.view));
    view::Output out(options.view.output);
    Found found(trace.reader());
    reading::drive(trace, {&found}, drive_options(options.view, "read"));
    const std::string& format = options.view.format;
    fmt::print(out.file(), "{}",
               format == "text"    ? text(trace, found, options.coverage)
               : format == "jsonl" ? info::jsonl_text(items(trace, found, options.coverage))
                                   : info::csv_text(items(trace, found, options.coverage)));
    out.close();
    return view::is_whole(trace.reader()) ? Status::fine : Status::failed;
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
    add_format_option(command, options->view, "all that is said, each thing with its properties");
    add_name_options(command, options->view.trace);
    command.footer(footer);
    command.callback([options, &action] { action = [options] { return info(*options); }; });
}

} // namespace mmioscope::cli
