#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "reading/tally.hpp"
#include "reading/trace.hpp"
#include "view/info.hpp"
#include "view/print_output.hpp"
#include "view/short_tables.hpp"

#include <memory>
#include <vector>

namespace mmioscope::cli::info_command {

namespace {

struct Options {
    ViewOptions view;
    bool coverage = false;
};

constexpr char footer[] = R"(
Coverage counts each accessed register once, however often it was accessed. --registers takes
  FILE.regs                        descriptions in mmioscope's own format (mmioscope-registers(5))
  FILE.svd                         a CMSIS-SVD file; its peripherals are found by their addresses
  FILE.svd:PERIPHERAL=COMPATIBLE   one peripheral of it, for devices with this `compatible`

Examples:
  mmioscope info boot.mmio
  mmioscope info --coverage boot.mmio                    # which registers have no names yet
  mmioscope info --coverage --registers soc.regs boot.mmio
  mmioscope info --format jsonl boot.mmio | jq 'select(.about == "device" and .traced == "no").name'
  mmioscope info --dtb board.dtb stream.mmio             # recorded over a wire, so without a device tree

Exit status: 0 the trace is whole, 1 it is cut, damaged or lacks records, 2 it cannot be read.)";

/// Collects what the events show.
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

std::vector<table::Table> tables_of(reading::Trace& trace, const Found& found, bool coverage) {
    const trace::TraceReader& reader = trace.reader();
    std::vector<table::Table> tables;
    if (coverage) {
        tables.push_back(view::unnamed_table(found.coverage));
    } else {
        const auto context = view::report_context(reader, reader.start().value_or(0));
        tables = view::head_tables(reader, found.summary, found.last);
        tables.push_back(view::device_table(reader, trace.naming().devices(), found.selections));
        tables.push_back(view::selection_table(found.selections, context, reader.regions().size()));
    }
    tables.push_back(view::coverage_table(found.coverage));
    std::erase_if(tables, [](const table::Table& table) { return table.rows.empty(); });
    return tables;
}

Status info(const Options& options) {
    reading::Trace trace(trace_options(options.view));
    view::Output out(options.view.output);
    Found found(trace.reader());
    reading::drive(trace, {&found}, drive_options(options.view, "read"));
    const std::vector<table::Table> tables = tables_of(trace, found, options.coverage);
    const view::Pager pager(pages(options.view, out));
    if (options.view.format == "csv") { // the tables have no common columns
        fmt::print(out.file(), "{}", view::property_csv(tables));
    } else {
        print_tables(options.view, tables, out);
    }
    out.close();
    return reading::is_whole(trace.reader()) ? Status::fine : Status::failed;
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    add_input_options(command, options->view);
    add_one_file_option(command, options->view);
    add_file(command, "-o,--output", options->view.output,
             "Output file (default: standard output)");
    command.add_flag("--coverage", options->coverage,
                     "Print the registers and fields without a name, and how many have one");
    add_wide_option(command, options->view);
    add_format_option(command, options->view, "everything, each thing with its properties");
    add_name_options(command, options->view.trace);
    add_pager_option(command, options->view);
    command.footer(footer);
    return [options] { return info(*options); };
}

} // namespace

const Command row{
    "info", "Print what a trace contains, its devices, and how many registers have names", add};

} // namespace mmioscope::cli::info_command
