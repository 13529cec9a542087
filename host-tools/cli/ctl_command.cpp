#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/program.hpp"
#include "control/relay.hpp"
#include "control/requests.hpp"
#include "run/input.hpp"
#include "run/probes.hpp"
#include "symbols/section.hpp"
#include "symbols/symbol_files.hpp"
#include "system/message.hpp"
#include "tree/device_names.hpp"

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
    std::vector<std::string> modules;
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
  mmioscope ctl unix:ctl.sock --kernel vmlinuz --symbols armmmci.ko@0xbf010000 probe 'armmmci:mmci_*,if=arg2>3'
  mmioscope ctl /dev/ttyUSB0 --baud 921600 mark before the driver is loaded

Exit status: 0 the command was carried out, 1 it was refused or no reply came, 2 TARGET cannot be opened.
)";

/// Finds the variables of the file with symbols `kernel`; empty: there is none.
control::FindDevice variables_of(const std::string& kernel, const wire::StreamHead& head) {
    const auto memory = tree::guest_memory_in(head.regions);
    symbols::SymbolList symbols;
    if (!kernel.empty() && memory) {
        symbols = symbols::unpack(symbols::section_of(std::vector{kernel}));
    }
    return run::variables_in(std::move(symbols), memory ? head.regions[*memory].base : 0);
}

Status steer(const Options& options) {
    const milliseconds patience(std::llround(options.timeout * 1000));
    // First, so that invalid words cost nothing; any device name will do for that.
    const control::FindCode code =
        options.kernel.empty() ||
                (!options.words.front().ends_with("probe") && options.words.front() != "hits")
            ? control::FindCode()
            : run::code_of(run::read_input(options.kernel, "kernel"), options.modules,
                           options.returns);
    const auto asks = control::asks_of(
        options.words,
        [](const std::string&) {
            return std::vector{control::Place{0, 4096}};
        },
        code);
    const wire::Address address = wire::parse_address(options.target);
    wire::Transport wire = wire::make_transport(address, options.baud);
    if (!wire.open(patience)) {
        throw failure("cannot open {} within {} s", options.target, options.timeout);
    }
    control::WireChannel channel(wire, patience);
    control::FindDevice find = [&](const std::string& name) {
        return control::find_device(channel.head(), name);
    };
    if (options.words.front() == "watch" || options.words.front() == "unwatch") {
        find = variables_of(options.kernel, channel.head());
    }
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
    add_file(command, "--kernel", options->kernel,
             "The kernel that runs there: image (vmlinuz, Image) for probes, vmlinux or System.map "
             "for variables; --symbols for functions of modules that are loaded");
    add_symbols(command, options->modules);
    command.add_flag("--returns", options->returns, "With probe: record each return, too");
    command.add_option("--baud", options->baud, "Rate of a serial port, in bit/s (default 115200)")
        ->check(CLI::Range(1, 100'000'000));
    command.add_option("--timeout", options->timeout, "Time to wait for a reply (default 10)")
        ->check(seconds_from(0))
        ->type_name("SECONDS");
    command.footer(std::string(control::commands_help) + control::probe_options_help + examples);
    return [options] {
        std::signal(SIGPIPE, SIG_IGN);
        return steer(*options);
    };
}

} // namespace

const Command row{"ctl", "Control the tracer while the guest runs", add};

} // namespace mmioscope::cli::ctl_command
