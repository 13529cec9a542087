#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "record/recording.hpp"

#include <csignal>
#include <memory>

namespace mmioscope::cli::record_command {

namespace {

constexpr char examples[] = R"(
SOURCE is the path of a serial port, pty, FIFO or file, unix:PATH, tcp:HOST:PORT (append ",listen" to wait for the
sender), or - for standard input.

If the board sends the report of its self-test (make doctor), or the hypervisor refuses to start, record prints what
failed and one line: whether the board can trace, and with which engine (exit status 0), or why not (1).

-F, --plugin, --cpu, --from, --to, --no-pc, --registers, --ts, --color, --raw, --duration and --all choose what -f
prints. The trace file always has everything.

Examples:
  mmioscope record /dev/ttyUSB0 --baud 921600 -o boot.mmio
  mmioscope record unix:uart.sock -o boot.mmio -f
  mmioscope record unix:uart.sock -o boot.mmio --dtb board.dtb -f -F 'dev==mmc && w'
  mmioscope record /dev/ttyUSB0 -f --ctl ctl.sock & mmioscope ctl unix:ctl.sock status
  mmioscope record /dev/ttyUSB0 -o boot.mmio --console -
  mmioscope record tcp::5555,listen -o board.mmio --rotate 1G --forever

Exit status: 0 nothing was lost, 1 something was, or the stream broke off, also after --time-limit; 2 SOURCE cannot be
opened; 130 after Ctrl-C: the trace file is whole.
)";

record::Options& checked(record::Options& options) {
    if (options.output.empty() && !options.follow) {
        throw bad_input("record needs -o FILE, -f, or both");
    }
    if (options.rotate != 0 && options.output.empty()) {
        throw bad_input("--rotate needs -o FILE");
    }
    return options;
}

Action add(CLI::App& command, const std::string& command_line) {
    command.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    const auto options = std::make_shared<record::Options>();
    options->command = command_line;
    const auto view = std::make_shared<ViewOptions>();
    command.add_option("source", options->source, "Where the stream comes from")->required();
    add_file(command, "-o,--output", options->output, "Save the trace in this file");
    command.add_flag("-f,--follow", options->follow,
                     "Print the trace while recording; at most 200 lines if standard output is no "
                     "terminal, except with --all");
    command.add_option("--baud", options->baud, "Rate of a serial port, in bit/s (default 115200)")
        ->check(CLI::Range(1, 100'000'000));
    command.add_flag("--plain", options->plain,
                     "Do not pack the records of the finished file: 64 bytes each");
    add_size(command, "--rotate", options->rotate,
             "Begin a new file (boot.2.mmio ...) before one gets larger than this, at least 1M");
    command.add_flag("--reconnect,!--no-reconnect", options->reconnect,
                     "Open the source again after it was lost (default: on)");
    add_symbols(command, options->symbols);
    add_file(command, "--dtb", options->tree,
             "Board's device tree, to store in the file: a stream has only the aliases");
    add_live_options(command, *view);
    add_file(command, "--console", options->console,
             "Save the guest's console, which shares the wire, in this file; - for standard "
             "output");
    add_file(command, "--ctl", options->control,
             "Create a Unix socket here, for mmioscope ctl unix:FILE while recording");
    command.add_flag("--forever", options->forever,
                     "Continue after the machine went off; its next boot goes to a new file");
    command
        .add_option("--time-limit", options->time_limit,
                    "End after this time (default 0: no limit)")
        ->check(seconds_from(0))
        ->type_name("SECONDS");
    command.footer(examples);
    return [options, view, &command] {
        std::signal(SIGPIPE, SIG_IGN); // a closed pipe ends the printing only
        if (!options->follow) {
            check_no_lines(*view, "changes what is printed, not what is saved: add -f, or leave "
                                  "it out");
        }
        options->live = live_options(*view);
        if (command.count("--rotate") > 0 && options->rotate < record::min_rotate) {
            throw bad_input("--rotate takes at least {} bytes", record::min_rotate);
        }
        return record::record_stream(checked(*options));
    };
}

} // namespace

const Command row{"record", "Record the stream of a board", add};

} // namespace mmioscope::cli::record_command
