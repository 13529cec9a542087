// mmioscope-guest: records the trace from inside of the traced kernel, and steers the tracer.
#include "cli/program.hpp"
#include "control/requests.hpp"
#include "ctl.hpp"
#include "lent_root.hpp"
#include "record.hpp"
#include "system/message.hpp"
#include "system/signals.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace mmioscope;

constexpr char record_examples[] = R"(
OUTPUT is a trace file, or, for `mmioscope record` on another machine, tcp:HOST:PORT, unix:PATH or
- for standard output. HOST should be a number: names need files of the C library. The trace begins
with what the ring buffers still hold of the boot.

Examples:
  mmioscope-guest record -o /tmp/boot.mmio --time-limit 10
  mmioscope-guest record -o tcp:192.168.1.2:5555   # there: mmioscope record tcp::5555,listen -o ...
  mmioscope-guest record -o - | ssh host mmioscope record - -o board.mmio

/dev/mem needs root. Records that are not read in time are lost, and counted. Ctrl-C ends the
recording; its trace is complete.
)";

void add_record(CLI::App& app, std::function<Status()>& action, bool root_is_lent) {
    CLI::App& command = *app.add_subcommand("record", "Record the trace of this machine");
    const auto options = std::make_shared<guest::RecordOptions>();
    command.add_option("-o,--output", options->output, "Where the trace goes, see below")
        ->required();
    command.add_option("--time-limit", options->time_limit, "End after this time")
        ->check(CLI::PositiveNumber)
        ->type_name("SECONDS");
    command.add_flag("--all", options->all,
                     "Also trace the device that carries the trace: each record causes more");
    command.footer(record_examples);
    command.callback([options, &action, root_is_lent] {
        action = [options, root_is_lent] {
            if (root_is_lent) {
                throw bad_input("record: run it as root; a set-uid program is for ctl only");
            }
            return guest::record(*options);
        };
    });
}

constexpr char ctl_examples[] = R"(
Only in mmioscope-guest, and only for root:
  modules                    write marks with the addresses of kernel modules, for function names

Examples:
  mmioscope-guest ctl mark before the driver is loaded
  mmioscope-guest ctl deselect serial0 mmc@50000
  mmioscope-guest ctl filter direction w address serial0
  mmioscope-guest ctl statistics
  modprobe mmc_block; mmioscope-guest ctl modules

/dev/mem needs root. To let others use ctl, run as root: chown root:GROUP mmioscope-guest; chmod 4750
mmioscope-guest. The program then maps the control page and gives up root before it reads its arguments; record
still needs root.
)";

void add_ctl(CLI::App& app, std::function<Status()>& action,
             std::future<guest::ControlAccess>& access) {
    CLI::App& command = *app.add_subcommand("ctl", "Control the tracer of this machine");
    const auto words = std::make_shared<std::vector<std::string>>();
    command.add_option("command", *words, "What to do, see below")
        ->required()
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command.footer(std::string(control::commands_help) + ctl_examples);
    command.callback([words, &action, &access] {
        action = [words, &access] { return guest::steer(*words, access); };
    });
}

} // namespace

// For set-uid: does first what needs root, and gives root up before it reads any argument. Keeps an
// error of this until a command needs the access. Nothing before that depends on the environment,
// and the C library has opened descriptors 0 to 2 if they were closed.
int main(int argc, char** argv) {
    note_signals();
    std::future<guest::ControlAccess> access =
        std::async(std::launch::deferred, guest::open_control);
    const bool root_is_lent = guest::root_is_lent();
    if (root_is_lent) {
        access.wait();
        if (!guest::give_root_back()) {
            print_message("mmioscope-guest: cannot give up root\n");
            return static_cast<int>(Status::bad_input);
        }
    }
    CLI::App app("Record the trace of the machine this runs on, and control the tracer.\n"
                 "Exit status: 0 fine, 1 failed or incomplete, 2 bad input, 130 interrupted.",
                 "mmioscope-guest");
    app.require_subcommand(1);
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    cli::Action action;
    add_record(app, action, root_is_lent);
    add_ctl(app, action, access);
    return cli::run_program(app, action, argc, argv);
}
