#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "record/session.hpp"

#include <csignal>
#include <memory>

namespace mmioscope::cli::record_command {

namespace {

constexpr char examples[] = R"(
SOURCE is a serial port, pty, FIFO or file by its path, unix:PATH or tcp:HOST:PORT (with
",listen" behind it to wait for the sender), or - for standard input.

-F, --plugin, --cpu, --from, --to, --no-pc, --registers, --ts, --color, --all and --raw are of what is printed with -f; the file has
everything.

Examples:
  mmioscope record /dev/ttyUSB0 --baud 921600 -o boot.mmio
  mmioscope record unix:uart.sock -o boot.mmio -f
  mmioscope record unix:uart.sock -o boot.mmio --dtb board.dtb -f -F 'dev==mmc && w'
  mmioscope record /dev/ttyUSB0 -f --ctl ctl.sock & mmioscope ctl unix:ctl.sock status
  mmioscope record /dev/ttyUSB0 -o boot.mmio --console -
  mmioscope record tcp::5555,listen -o board.mmio --rotate 1G --forever
)";

record::Options& checked(record::Options& options) {
    if (options.output.empty() && !options.follow) {
        throw bad_input("record needs -o FILE, -f, or both");
    }
    if (options.rotate != 0 && options.output.empty()) {
        throw bad_input("--rotate needs -o FILE");
    }
    if (options.rotate != 0 && options.rotate < record::min_rotate) {
        throw bad_input("--rotate takes at least {} bytes", record::min_rotate);
    }
    return options;
}

Action add(CLI::App& command, const std::string& command_line) {
    command.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    const auto options = std::make_shared<record::Options>();
    options->command = command_line;
    const auto view = std::make_shared<ViewOptions>();
    command.add_option("source", options->source, "Where the stream comes from")->required();
    add_file(command, "-o,--output", options->output, "Save the trace here");
    command.add_flag("-f,--follow", options->follow, "Print the trace while it comes");
    command.add_option("--baud", options->baud, "Rate of a serial port (default 115200)")
        ->check(CLI::Range(1, 100'000'000));
    command.add_flag("--plain", options->plain, "Do not pack the trace's records in the end");
    add_size(command, "--rotate", options->rotate,
             "Begin the next file (FILE.2 ...) after so many bytes");
    command.add_flag("--reconnect,!--no-reconnect", options->reconnect,
                     "Open the source again when it was lost (default)");
    add_symbols(command, options->symbols);
    add_file(command, "--dtb", options->tree,
             "Board's device tree, for the names in the file: a stream has only its aliases");
    add_live_options(command, *view);
    add_file(command, "--console", options->console,
             "The wire carries the guest's console, too: it goes into this file, or to - (stdout)");
    add_file(command, "--ctl", options->control,
             "A unix socket here, for mmioscope ctl unix:SOCKET while this records");
    command.add_flag("--forever", options->forever,
                     "Go on when the machine goes off, with its next boot in the next file");
    command.add_option("--time-limit", options->time_limit, "End after so many seconds")
        ->check(seconds_from(0))
        ->type_name("SECONDS");
    command.footer(examples);
    return [options, view] {
        std::signal(SIGPIPE, SIG_IGN); // a closed pipe ends the printing only
        options->live = live_options(*view);
        return record::record_stream(checked(*options));
    };
}

} // namespace

const Command row{"record", "Record the stream of a board", add};

} // namespace mmioscope::cli::record_command
