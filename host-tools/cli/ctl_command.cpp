#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/program.hpp"
#include "control/relay.hpp"
#include "control/requests.hpp"
#include "run/input.hpp"
#include "run/probes.hpp"
#include "system/message.hpp"

#include <cmath>
#include <csignal>
#include <memory>

namespace mmioscope::cli::ctl_command {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct Options {
    std::string target;
    std::vector<std::string> words;
    std::string kernel; ///< image; empty: none
    unsigned baud = 115'200;
    double timeout = 10;
    bool returns = false;
};

constexpr char examples[] = R"(
TARGET is the wire of the stream: a path, unix:PATH or tcp:HOST:PORT. While the stream is being recorded, use the socket
of record --ctl or run --ctl: ctl would otherwise take bytes of the trace from the wire.

Examples:
  mmioscope ctl unix:ctl.sock status
  mmioscope ctl unix:ctl.sock deselect serial0 interrupt-controller@2c001000
  mmioscope ctl unix:ctl.sock trigger start address mmc@50000+0xc direction w
  mmioscope ctl unix:ctl.sock --kernel vmlinuz probe vfs_write 'kmem_cache_*'
  mmioscope ctl /dev/ttyUSB0 --baud 921600 mark before the driver is loaded

Exit status: 0 the command was carried out, 1 it was refused or no reply came, 2 TARGET cannot be opened.
)";

Status steer(const Options& options) {
    const milliseconds patience(std::llround(options.timeout * 1000));
    // First, so that invalid words cost nothing; any device name will do for that.
    const control::FindCode code =
        options.kernel.empty() ? control::FindCode()
                               : run::code_of(run::read_input(options.kernel, "kernel"), options.returns);
    const auto asks = control::asks_of(
        options.words, [](const std::string&) { return std::vector{control::Place{0, 4096}}; },
        code);
    const wire::Address address = wire::parse_address(options.target);
    wire::Transport wire = wire::make_transport(address, options.baud);
    if (!wire.open(patience)) {
        throw failure("cannot open {} within {} s", options.target, options.timeout);
    }
    control::WireChannel channel(wire, patience);
    const control::FindDevice find = [&channel](const std::string& name) {
        return control::find_device(channel.head(), name);
    };
    std::string lines = control::carry_out(options.words, find, channel, code);
    if (asks.front().command == abi::control::Command::describe) {
        lines +=
            fmt::format("devices: {}\n", fmt::join(control::device_names(channel.head()), ", "));
    }
    write_output(lines);
    return status_of_output(Status::fine);
}

Action add(CLI::App& command, const std::string&) {
    const auto options = std::make_shared<Options>();
    command.add_option("target", options->target, "Where the board is, see below")->required();
    command.add_option("command", options->words, "What to do, see below")->required();
    command.add_option("--kernel", options->kernel,
                       "The image of the kernel that runs there (vmlinuz, Image), for probes")
        ->type_name("FILE");
    command.add_flag("--returns", options->returns, "With probe: record each return, too");
    command.add_option("--baud", options->baud, "Rate of a serial port, in bit/s (default 115200)")
        ->check(CLI::Range(1, 100'000'000));
    command.add_option("--timeout", options->timeout, "Time to wait for a reply (default 10)")
        ->check(seconds_from(0))
        ->type_name("SECONDS");
    command.footer(std::string(control::commands_help) + examples);
    return [options] {
        std::signal(SIGPIPE, SIG_IGN);
        return steer(*options);
    };
}

} // namespace

const Command row{"ctl", "Control the tracer while the guest runs", add};

} // namespace mmioscope::cli::ctl_command
