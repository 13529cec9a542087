#include "cli/commands.hpp"
#include "cli/option_types.hpp"
#include "cli/view_options.hpp"
#include "control/requests.hpp"
#include "plan/board_plan.hpp"
#include "run/input.hpp"
#include "run/plan.hpp"
#include "run/run_files.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>

namespace mmioscope::cli::run_command {

namespace {

using run::Options;

constexpr char examples[] = R"(
-F, --plugin, --cpu, --from, --to, --no-pc, --registers, --ts, --color, --raw, --duration and --all choose what is
printed. The trace file always has everything.

Examples:
  mmioscope run --kernel vmlinuz --dtb board.dtb --initrd initrd.img -o boot.mmio
  mmioscope run --kernel vmlinuz --dtb board.dtb --trace serial@90000,rtc@170000
  mmioscope run --kernel vmlinuz --dtb board.dtb --trace 'all,!0x2c001000+8K' --console
  mmioscope run --kernel vmlinuz --dtb board.dtb \
      --at-start 'trigger start address mmc@50000+0xc direction w' --at-start 'deselect serial0'
  mmioscope run --kernel vmlinuz --dtb board.dtb --stream serial2 --stream-baud 115200
  mmioscope run --kernel vmlinuz --dtb board.dtb --reboots 3 -o boot.mmio
  mmioscope run --kernel vmlinuz --dtb board.dtb -F 'dev==mmc && w' --ts delta -o boot.mmio
  mmioscope run --bare --kernel test.bin --dtb board.dtb --time-limit 20 --expect passed
  mmioscope run --board virt --place top --bare --kernel u-boot.bin --load-at 0 --tree-at 0x40000000 --console
  mmioscope run --board raspi2b --kernel vmlinuz --dtb bcm2836-rpi-2-b.dtb --initrd initrd.img --stop-at 'login:'

Exit status: 0 the guest ended by itself, or said what --stop-at waits for, the console had --expect's text, and nothing
was lost; 1 otherwise, also after --time-limit; 2 an input cannot be used, and nothing was started; 130 after Ctrl-C: the
trace file is whole.
)";

/// For a board that `run` does not know, what its tree says of it; as many CPUs as it has if there
/// are fewer than the default.
void try_board(Options& options) {
    const std::vector<std::string> known = run::board_names();
    if (options.tree.empty() || std::ranges::find(known, options.board) != known.end()) {
        return;
    }
    options.tried_board =
        plan::tried_board(options.board, run::read_input(options.tree, "device tree"));
    options.cpus = std::min(options.cpus, options.tried_board->max_cpus);
}

void add_guest(CLI::App& command, Options& options) {
    command
        .add_option("--board", options.board,
                    fmt::format("Board (default {}); another one of QEMU's is tried by its --dtb",
                                options.board))
        ->type_name(fmt::format("{{{}}}", fmt::join(run::board_names(), ",")));
    add_file(
        command, "--hypervisor", options.hypervisor,
        "Hypervisor ELF (default: hyp-<address>.elf beside this program, or in ../lib/mmioscope)");
    add_file(command, "--kernel", options.kernel, "Guest's kernel (zImage)");
    add_file(command, "--dtb", options.tree,
             "Board's device tree (default for virt: the one that QEMU makes)");
    add_file(command, "--initrd", options.ramdisk, "Guest's initial ramdisk");
    command.add_option("--append", options.command_line, "Guest's kernel command line");
    add_file(command, "--sd", options.sd_image, "SD card image; what the guest writes is not kept");
    add_switch(command, "net", options.network,
               "Connect QEMU's user network (default: on if the board has a network card)");
    command.add_flag(
        "--bare", options.bare,
        "--kernel is no Linux: an ELF file, or a raw binary entered at its first byte; r0, r1 and "
        "r2 are as for Linux: 0, -1, the device tree");
    add_address(command, "--load-at", options.load_at,
                "Load a raw binary at this physical address, in memory or flash (default: 48 MiB "
                "into the memory)");
    add_address(command, "--entry", options.entry,
                "Enter a raw binary at this address (bit 0: in Thumb state)");
    add_address(command, "--tree-at", options.tree_at,
                "Put the device tree of a bare guest at this address; firmware for virt wants it "
                "at 0x40000000");
    add_count(command, "--cpus", options.cpus, "Number of CPUs (default 2)", 1);
    add_size(command, "--memory", options.memory,
             "Size of the RAM, a multiple of 1M (default 512M; orangepi-pc, ast2600-evb and "
             "raspi2b: always 1024M)");
    add_place(command, options.at_top);
    add_file(command, "--ram", options.ram,
             "Keep the guest's RAM in this file; if it exists, the machine starts with its "
             "content, as after a reset");
}

void add_tracing(CLI::App& command, Options& options) {
    add_values(command, "--trace", options.trace,
               "What to trace: all (default), none, a device (its path, the end of its path, its "
               "node name without the address, or its alias), or BASE+SIZE; a leading ! excludes; "
               "separate several with commas, or repeat the option")
        ->check(not_empty());
    command
        .add_option("--engine", options.engine,
                    "How accesses are carried out: shadow (default), emulation, or, for "
                    "comparison only, unprotect, which opens pages to all CPUs as Linux mmiotrace "
                    "does and LOSES EVENTS")
        ->check(one_of({"shadow", "emulation", "unprotect"}));
    command
        .add_option("--policy", options.policy,
                    "When a ring buffer is full: drop (default) loses new records, stall makes the "
                    "guest wait, flight overwrites the oldest records")
        ->check(one_of({"drop", "stall", "flight"}));
    command.add_flag("--pre", options.pre,
                     "Also write a record before each access, to find one that never returns");
    command.add_flag("--slow-path", options.slow_path,
                     "Do not use the fast path, for measurements; the trace is the same");
    command.add_flag(
        "--no-breakpoints", options.no_breakpoints,
        "Trace as on a board whose DBGEN is low: accesses are emulated; what cannot be "
        "emulated is stepped by SMC at PL1, or else recorded, and the guest gets a data abort");
    add_size(command, "--area-size", options.area_size,
             "Size of the trace area, a multiple of 4K (default 64M)");
    command.add_flag("--guest-reader", options.guest_reader,
                     "Let the guest read the trace (mmioscope-guest record)");
    add_switch(command, "control-page", options.control_page,
               "Accept commands at run time, from mmioscope-guest ctl and --ctl (default: on)");
    add_values(command, "--at-start", options.at_start,
               "Apply this command of mmioscope ctl before the guest's first instruction, except "
               "status, statistics, flush and snapshot; may be repeated")
        ->type_name("COMMAND");
    command
        .add_option(
            "--stack", options.stacks,
            "Record the kernel's stack at each access to these devices, for mmioscope print "
            "--stack: all, or names as for --trace, or BYTES: and names (default 256 bytes); "
            "calls: at each call of --probe, too")
        ->type_name("[BYTES:]DEVICE,...");
    add_values(
        command, "--probe", options.probes,
        "Record each call of this function of the kernel: a name, with * ? [] as in a "
        "shell, MODULE:NAME, or the address of an instruction; @FILE has one in each line; may be "
        "repeated; what its calls do may follow, see below")
        ->type_name("FUNCTION");
    command.add_flag("--returns", options.returns,
                     "Of the functions of --probe, record each return, too: its result, and the "
                     "time since the call");
    command.add_flag("--probes", options.probes_later,
                     "Let mmioscope ctl set and remove probes while the guest runs");
    add_values(command, "--watch", options.watches,
               "Record each access to this memory: BASE+SIZE, physical, or a variable of "
               "the kernel; may be repeated")
        ->type_name("PLACE");
    command.add_flag("--watches", options.watches_later,
                     "Let mmioscope ctl watch memory while the guest runs");
    add_values(
        command, "--pages", options.pages,
        "Record each move of a page of this memory between CPUs: all, BASE+SIZE, physical, or a "
        "variable of the kernel; limit=N: free for 10 ms after N quick moves; may be repeated")
        ->type_name("PLACE");
}

void add_stream(CLI::App& command, Options& options) {
    command
        .add_option("--stream", options.stream,
                    "Take the trace from this UART (an alias such as serial2, or a path) instead "
                    "of shared memory")
        ->check(not_empty());
    add_file(command, "--stream-file", options.stream_file,
             "Save the stream's bytes here, for mmioscope record");
    command.add_flag("--stream-shared", options.stream_shared,
                     "The stream shares the UART of the guest's console (serial0)");
    command.add_flag("--stream-beside", options.stream_beside,
                     "Send the stream to --stream-file, but take the trace from shared memory");
    add_file(command, "--ctl", options.control,
             "Create a Unix socket here, for mmioscope ctl unix:FILE over the stream's UART");
    command
        .add_option("--stream-baud", options.stream_baud,
                    "Send the stream no faster than this rate, in bit/s (default: as fast as QEMU "
                    "takes it)")
        ->check(CLI::Range(300, 10'000'000))
        ->type_name("BAUD");
    command
        .add_option("--stream-quantum", options.stream_quantum,
                    "Times in the stream are in steps of at most this many ns; 0: exact (default "
                    "1024)")
        ->check(count_from(0))
        ->type_name("NS");
    command
        .add_option("--stream-fold", options.stream_fold,
                    "Send equal reads of a polling loop as a count: off (default), steps (only "
                    "where all times stay exact), polls (all; times between the first and the last "
                    "are estimates)")
        ->check(one_of({"off", "steps", "polls"}));
}

void add_output(CLI::App& command, Options& options) {
    add_file(command, "-o,--output", options.output, "Save the trace in this file");
    command.add_flag("--plain", options.plain,
                     "Do not pack the records of the finished file: 64 bytes each");
    add_switch(command, "print", options.print,
               "Print the trace, at most 200 lines if standard output is no terminal, except with "
               "--all (default: on without --console)");
    command.add_flag("--console", options.console,
                     "Connect the guest's console to this terminal (Ctrl-C ends the run)");
    add_file(command, "--console-log", options.console_log,
             "Save the output of the guest's console in this file");
    add_file(command, "--hyp-log", options.hypervisor_log,
             "Save the output of the hypervisor's UART in this file");
    add_symbols(command, options.symbols);
    command.add_flag("--no-cache", options.no_cache,
                     "Read the kernel's names from its image, not from what an earlier run kept in "
                     "$XDG_CACHE_HOME/mmioscope or ~/.cache/mmioscope");
    add_file(command, "--access-log", options.access_log,
             "Have QEMU log all accesses in this file, for mmioscope verify");
}

void add_ending(CLI::App& command, Options& options) {
    add_count(command, "--reboots", options.reboots,
              "Continue over this many resets by the guest; each boot has its own files: "
              "boot.mmio, boot.2.mmio ... (default 0: the first reset ends the run)");
    command
        .add_option("--time-limit", options.time_limit,
                    "End the run after this time (default 0: no limit)")
        ->check(seconds_from(0))
        ->type_name("SECONDS");
    command
        .add_option("--ready-limit", options.ready_limit,
                    "Fail if the hypervisor is not ready after this time (default 30)")
        ->check(seconds_from(0))
        ->type_name("SECONDS");
    command
        .add_option("--stop-at", options.stop_at,
                    "End the run when the guest's console contains this text, for guests that "
                    "cannot switch their machine off")
        ->check(not_empty())
        ->type_name("TEXT");
    command
        .add_option("--expect", options.expect,
                    "Fail unless a line of the guest's console contains this text")
        ->check(not_empty());
    add_file(command, "--qemu", options.qemu, "QEMU program (default: qemu-system-arm in $PATH)");
    add_values(command, "--qemu-arg", options.qemu_arguments,
               "Pass this argument on to QEMU; may be repeated");
}

Action add(CLI::App& command, const std::string& command_line) {
    // The last one counts, so options added to a script override its own.
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
    command.footer(std::string(control::probe_options_help) + examples);
    return [options, view] {
        std::signal(SIGPIPE, SIG_IGN); // a closed pipe ends the printing only
        if (!run::prints(*options)) {
            check_no_lines(*view, "changes what is printed, not what is saved: add --print, or "
                                  "leave it out");
        }
        options->live = live_options(*view);
        try_board(*options);
        return run::run_session(run::make_plan(*options));
    };
}

} // namespace

const Command row{"run", "Start a guest in QEMU and trace it", add};

} // namespace mmioscope::cli::run_command
