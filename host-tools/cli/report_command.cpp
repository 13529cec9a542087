#include "cli/commands.hpp"
#include "cli/page_output.hpp"

#include <memory>

namespace mmioscope::cli::report_command {

namespace {

constexpr char footer[] = R"(
The page that `mmioscope open` shows, as a file: all events of the trace, for a browser, without a network. Its button
.mmio gives the trace back. docs/report.md says how it is used.

Examples:
  mmioscope report boot.mmio -o boot.html
  mmioscope report --from 9 --to 10 --no-pc boot.mmio -o second.html

Exit status: 0 the trace is whole and nothing was lost, 1 otherwise, 2 it cannot be read.
)";

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<ViewOptions>();
    add_page_options(command, *options);
    options->output = "-";
    command.add_option("-o,--output", options->output, "Output file (default: standard output)")
        ->type_name("FILE");
    command.footer(footer);
    return [options] { return write_page(*options, options->output, "report"); };
}

} // namespace

const Command row{"report", "Write a trace as a page for a browser", add};

} // namespace mmioscope::cli::report_command
