#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "run/plan.hpp"
#include "run/session.hpp"

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mmioscope::cli::run_command {

namespace {

using run::Options;

constexpr char examples[] = R"(
-F, --plugin, --cpu, --from, --to, --no-pc, --registers, --ts, --color, --all and --raw are of what is printed; the file has
everything.

Examples:
  mmioscope run --kernel vmlinuz --dtb board.dtb --initrd initrd.img -o boot.mmio
  mmioscope run --kernel vmlinuz --dtb board.dtb --trace serial@90000,rtc@170000
  mmioscope run --kernel vmlinuz --dtb board.dtb --trace all,!0x2c001000+8K --console
  mmioscope run --kernel vmlinuz --dtb board.dtb \
      --at-start 'trigger start address mmc@50000+0xc direction w' --at-start 'deselect serial0'
  mmioscope run --kernel vmlinuz --dtb board.dtb --stream serial2 --stream-baud 115200
  mmioscope run --kernel vmlinuz --dtb board.dtb --reboots 3 -o boot.mmio
  mmioscope run --kernel vmlinuz --dtb board.dtb -F 'dev==mmc && w' --ts delta -o boot.mmio
  mmioscope run --bare --kernel test.bin --dtb board.dtb --time-limit 20 --expect passed
)";

/// --name and --no-name; `to` stays empty if neither is given.
void add_switch(CLI::App& command, const std::string& name, std::optional<bool>& to,
                const std::string& help) {
    command.add_flag_function(
        "--" + name + ",!--no-" + name, [&to](std::int64_t count) { to = count > 0; }, help);
}

void add_guest(CLI::App& command, Options& options) {
    command.add_option("--board", options.board, fmt::format("Board (default {})", options.board))
        ->check(one_of(run::board_names()));
    add_file(
        command, "--hypervisor", options.hypervisor,
        "Hypervisor ELF (default: hyp-<board>.elf beside this program, or in ../lib/mmioscope)");
    add_file(command, "--kernel", options.kernel, "Guest's zImage");
    add_file(command, "--dtb", options.tree, "Board's device tree");
    add_file(command, "--initrd", options.ramdisk, "Guest's initial ramdisk");
    command.add_option("--append", options.command_line, "Guest's command line");
    add_file(command, "--sd", options.sd_image, "SD card's image; never changed");
    add_switch(command, "net", options.network,
               "QEMU's user network (default: if the board has a network card)");
    command.add_flag("--bare", options.bare, "--kernel is a raw binary, entered at its first byte");
    command.add_option("--cpus", options.cpus, "CPUs (default 2)")
        ->check(count_from(1))
        ->type_name("N");
    add_size(command, "--memory", options.memory, "RAM (default 512M, or what the board has)");
    add_file(
        command, "--ram", options.ram,
        "Keep the RAM in this file; one that is there is what the machine finds after a reset");
}

void add_tracing(CLI::App& command, Options& options) {
    command
        .add_option(
            "--trace", options.trace,
            "What to trace: all, none, a device (its path, an end of that, its node without "
            "the address, or an alias), or BASE+SIZE; ! in front excludes; several with commas or "
            "by repeating (default: all)")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    command
        .add_option("--engine", options.engine,
                    "How accesses are carried out (unprotect: for comparison only, it opens pages "
                    "to all CPUs as Linux mmiotrace does and LOSES EVENTS)")
        ->check(one_of({"shadow", "emulation", "unprotect"}));
    command.add_option("--policy", options.policy, "What happens when a ring is full")
        ->check(one_of({"drop", "stall", "flight"}));
    command.add_flag("--pre", options.pre,
                     "A record before each access, too: one that never returns is named");
    command.add_flag("--slow-path", options.slow_path,
                     "Take no access by the fast path, for measurements: the trace is the same");
    add_size(command, "--area-size", options.area_size, "Trace area (default 64M)");
    command.add_flag("--guest-reader", options.guest_reader,
                     "Let the guest read the trace, too, with mmioscope-guest record");
    add_switch(
        command, "control-page", options.control_page,
        "Let the tracer be steered, by the guest (mmioscope-guest ctl) and by --ctl (default)");
    command
        .add_option("--at-start", options.at_start,
                    "Do what these words ask of mmioscope ctl before the guest's first "
                    "instruction; several by repeating, in their order")
        ->type_name("WORDS")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_stream(CLI::App& command, Options& options) {
    command.add_option("--stream", options.stream,
                       "Take the trace from this UART (serial2, or its path) instead of shared "
                       "memory");
    add_file(command, "--stream-file", options.stream_file,
             "Keep the stream's bytes here, for mmioscope record");
    command.add_flag("--stream-shared", options.stream_shared,
                     "The stream goes out on the UART of the guest's console (serial0)");
    command.add_flag("--stream-beside", options.stream_beside,
                     "Stream into --stream-file, but take the trace from shared memory as well");
    add_file(command, "--ctl", options.control,
             "A unix socket here, for mmioscope ctl unix:SOCKET over the stream's UART");
    command
        .add_option("--stream-baud", options.stream_baud,
                    "Send no faster than such a line would (default: as fast as QEMU takes it)")
        ->check(CLI::Range(300, 10'000'000))
        ->type_name("BAUD");
    command
        .add_option("--stream-quantum", options.stream_quantum,
                    "Times in the stream in steps of at most so many ns; 0: exact (default 1024)")
        ->check(count_from(0))
        ->type_name("NS");
    command
        .add_option("--stream-fold", options.stream_fold,
                    "Send equal reads as a count: in steps of time that can be told exactly, or "
                    "all polls, whose times between first and last are estimates")
        ->check(one_of({"off", "steps", "polls"}));
}

void add_output(CLI::App& command, Options& options) {
    add_file(command, "-o,--output", options.output, "Save the trace here");
    command.add_flag("--plain", options.plain, "Do not pack the trace's records in the end");
    add_switch(command, "print", options.print, "Print the trace (default: unless --console)");
    command.add_flag("--console", options.console,
                     "The guest's console is this terminal (Ctrl-C ends the run)");
    add_file(command, "--console-log", options.console_log, "Save the guest's console here");
    add_file(command, "--hyp-log", options.hypervisor_log, "Save the hypervisor's UART here");
    add_symbols(command, options.symbols);
    add_file(command, "--access-log", options.access_log,
             "Have QEMU log all accesses here, for mmioscope verify");
}

void add_ending(CLI::App& command, Options& options) {
    command
        .add_option("--reboots", options.reboots,
                    "Go on when the guest resets the machine, so many times; each boot has its own "
                    "files: FILE, FILE.2 ... (default 0: the run ends)")
        ->check(count_from(0))
        ->type_name("N");
    command.add_option("--time-limit", options.time_limit, "End the run after so many seconds")
        ->check(seconds_from(0))
        ->type_name("SECONDS");
    command
        .add_option("--ready-limit", options.ready_limit,
                    "Seconds the hypervisor has to get ready (default 30)")
        ->check(seconds_from(0))
        ->type_name("SECONDS");
    command.add_option("--expect", options.expect,
                       "Fail unless a line of the guest's console contains this");
    add_file(command, "--qemu", options.qemu, "QEMU (default: qemu-system-arm in $PATH)");
    command.add_option("--qemu-arg", options.qemu_arguments, "Another argument for QEMU")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Action add(CLI::App& command, const std::string& command_line) {
    // The last one counts, so that a script's choice can be overridden by adding to it.
    command.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    const auto options = std::make_shared<Options>();
    options->command = command_line;
    const auto view = std::make_shared<ViewOptions>();
    add_guest(command, *options);
    add_tracing(command, *options);
    add_stream(command, *options);
    add_output(command, *options);
    add_live_options(command, *view);
    add_ending(command, *options);
    command.footer(examples);
    return [options, view] {
        std::signal(SIGPIPE, SIG_IGN); // a closed pipe ends the printing only
        options->live = live_options(*view);
        return run::run_session(run::make_plan(*options));
    };
}

} // namespace

const Command row{"run", "Start a guest in QEMU and trace it", add};

} // namespace mmioscope::cli::run_command
