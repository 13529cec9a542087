// mmioscope-guest: records the trace from inside of the traced kernel, and steers the tracer.
#include "cli/program.hpp"
#include "control/words.hpp"
#include "ctl.hpp"
#include "record.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace mmioscope;

constexpr char record_examples[] = R"(
OUTPUT is a file, which `mmioscope print` reads, or for `mmioscope record` on another machine
tcp:HOST:PORT (HOST as a number; a name takes the C library's own files), unix:PATH, or - for
standard output. The rings hold what has happened since the boot, as far as there was room.

Examples:
  mmioscope-guest record -o /tmp/boot.mmio --time-limit 10
  mmioscope-guest record -o tcp:192.168.1.2:5555   # there: mmioscope record tcp::5555,listen -o ...
  mmioscope-guest record -o - | ssh host mmioscope record - -o board.mmio

/dev/mem takes root (for others see ctl --help). What comes in from now on and is not read in time is
lost, and counted. Ctrl-C ends it, and what was recorded is whole.
)";

void add_record(CLI::App& app, std::function<Status()>& action) {
    CLI::App& command = *app.add_subcommand("record", "Record the trace of this machine");
    const auto options = std::make_shared<guest::RecordOptions>();
    command.add_option("-o,--output", options->output, "Where the trace goes")->required();
    command.add_option("--time-limit", options->time_limit, "End after so many seconds")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    command.add_flag("--all", options->all,
                     "Trace the device that the trace leaves through, too: more with each record");
    command.footer(record_examples);
    command.callback(
        [options, &action] { action = [options] { return guest::record(*options); }; });
}

constexpr char ctl_examples[] = R"(
Examples:
  mmioscope-guest ctl mark before the driver is loaded
  mmioscope-guest ctl deselect serial0 mmc@50000
  mmioscope-guest ctl filter direction w address serial0
  mmioscope-guest ctl statistics

/dev/mem takes root. For others: setcap cap_sys_rawio+ep mmioscope-guest; chmod a+rw /dev/mem; and
for devices by name: chmod a+r /sys/firmware/fdt.
)";

void add_ctl(CLI::App& app, std::function<Status()>& action) {
    CLI::App& command = *app.add_subcommand("ctl", "Steer the tracer of this machine");
    const auto words = std::make_shared<std::vector<std::string>>();
    command.add_option("command", *words, "What to do, see below")
        ->required()
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command.footer(std::string(control::commands_help) + ctl_examples);
    command.callback([words, &action] { action = [words] { return guest::steer(*words); }; });
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Records the trace of the machine it runs on, and steers the tracer.\n"
                 "Exit status: 0 fine, 1 failed or incomplete, 2 bad input, 130 interrupted.",
                 "mmioscope-guest");
    app.require_subcommand(1);
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    cli::Action action;
    add_record(app, action);
    add_ctl(app, action);
    return cli::run_program(app, action, argc, argv);
}
