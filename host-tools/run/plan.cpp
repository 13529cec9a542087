#include "run/plan.hpp"

#include "abi/layout.hpp"
#include "abi/ring.hpp"
#include "run/boot_tree.hpp"
#include "run/early_requests.hpp"
#include "run/probes.hpp"
#include "run/process.hpp"
#include "run/qemu_command.hpp"
#include "run/run_files.hpp"
#include "symbols/section.hpp"
#include "system/file_descriptor.hpp"
#include "system/replaced_file.hpp"
#include "tree/device_tree.hpp"
#include "view/live_printer.hpp"

#include <algorithm>
#include <filesystem>

namespace mmioscope::run {

namespace {

constexpr std::uint64_t mebi = 1u << 20;

/// The node of QEMU's serial N: from the board, or by the alias serialN.
std::string serial_node(const Board& board, const tree::Aliases& aliases, unsigned serial) {
    if (!board.serial_nodes[serial].empty()) {
        return std::string(board.serial_nodes[serial]);
    }
    const auto alias = aliases.find(fmt::format("serial{}", serial));
    return alias == aliases.end() ? "" : alias->second;
}

struct Serial {
    unsigned number;
    std::string node;
};

std::optional<Serial> find_stream(const Options& options, const Board& board, const Bytes& tree) {
    if (options.stream.empty()) {
        return std::nullopt;
    }
    if (board.one_serial() && options.stream_shared) {
        return Serial{
            board.guest_serial,
            options.stream}; // whatever it is called; the hypervisor looks whether it is one
    }
    const tree::Aliases aliases = tree::aliases(tree);
    for (unsigned serial = 0; serial < board.serials; ++serial) {
        const std::string node = serial_node(board, aliases, serial);
        if (node.empty() ||
            (fmt::format("serial{}", serial) != options.stream && node != options.stream)) {
            continue;
        }
        if (options.stream_shared && serial != board.guest_serial) {
            throw bad_input(
                "--stream {}: --stream-shared needs the UART of the guest's console, serial{}",
                options.stream, board.guest_serial);
        }
        if (!options.stream_shared && serial == board.guest_serial) {
            throw bad_input(
                "--stream {}: this UART is the guest's console; add --stream-shared to share it",
                options.stream);
        }
        return Serial{serial, node};
    }
    throw bad_input(
        "--stream {}: the device tree has no such UART among its aliases serial0 to serial{}",
        options.stream, board.serials - 1);
}

/// The first free one.
Serial find_other(const Board& board, const Bytes& tree, unsigned stream) {
    const tree::Aliases aliases = tree::aliases(tree);
    for (unsigned serial = 0; serial < board.serials; ++serial) {
        const std::string node = serial_node(board, aliases, serial);
        if (!node.empty() && serial != board.guest_serial && serial != stream) {
            return {serial, node};
        }
    }
    throw bad_input(
        "--stream: this UART is the hypervisor's own, and the device tree has no other");
}

/// The stream gets the UART that `options` names; if that is the board's for the hypervisor, the
/// hypervisor gets the first free one. Throws Error (bad_input) if there is no such UART, or it is
/// the guest's.
Serials assign_serials(const Options& options, const Board& board, const Bytes& tree) {
    Serials serials;
    serials.hypervisor = board.hypervisor_serial;
    if (!board.one_serial()) {
        serials.hypervisor_node = serial_node(board, tree::aliases(tree), serials.hypervisor);
        if (serials.hypervisor_node.empty()) {
            throw bad_input("the device tree has no alias serial{}: the hypervisor's messages need "
                            "a UART of their own",
                            serials.hypervisor);
        }
    }
    if (const std::optional<Serial> stream = find_stream(options, board, tree)) {
        serials.stream = stream->number;
        serials.stream_node = stream->node;
    }
    if (serials.stream == board.hypervisor_serial && !board.one_serial()) {
        const Serial other = find_other(board, tree, *serials.stream);
        serials.hypervisor = other.number;
        serials.hypervisor_node = other.node;
    }
    return serials;
}

void check_cpus(const Options& options, const Board& board) {
    if (options.cpus < 1 || options.cpus > board.max_cpus) {
        throw bad_input("--cpus {}: {} has 1 to {} CPUs", options.cpus, board.name, board.max_cpus);
    }
    reading::check_cpus(options.live.events.cpus, options.cpus);
}

void check_area(const Options& options) {
    const std::uint64_t least =
        abi::area_head_size +
        options.cpus * (sizeof(abi::RingHeader) + abi::min_capacity * sizeof(abi::Record));
    if (options.area_size < least) {
        throw bad_input("--area-size {}: too small, {} CPUs need at least {}K", options.area_size,
                        options.cpus, (least + 1023) / 1024);
    }
    if (options.area_size % 4096 != 0 || options.area_size > UINT32_MAX) {
        throw bad_input("--area-size {}: must be a multiple of 4096, and below 4G",
                        options.area_size);
    }
}

void check_memory(const Options& options, const Board& board) {
    if (options.memory % mebi != 0) {
        throw bad_input("--memory {}: must be a multiple of 1M", options.memory);
    }
    const std::uint64_t head = board.hypervisor_base() - board.ram_base + abi::area_offset;
    const std::uint64_t least = (head + options.area_size + mebi - 1) / mebi;
    if (options.memory < least * mebi) {
        throw bad_input("too little memory: --memory {}M, but guest, hypervisor and trace area "
                        "need {}M",
                        options.memory / mebi, least);
    }
    if (options.memory < board.min_memory) {
        throw bad_input("--memory {}M: {} has at least {}M", options.memory / mebi, board.name,
                        board.min_memory / mebi);
    }
    if (options.memory > board.max_memory) {
        throw bad_input("--memory {}M: {} has at most {}M", options.memory / mebi, board.name,
                        board.max_memory / mebi);
    }
}

std::optional<Module> ramdisk_module(const Options& options, const Board& board,
                                     const GuestProgram& program) {
    if (options.ramdisk.empty()) {
        return std::nullopt;
    }
    const Bytes bytes = read_input(options.ramdisk, "ramdisk");
    check_ramdisk(bytes, options.ramdisk);
    const Module ramdisk{board.ramdisk_address(), bytes.size()};
    const std::uint64_t room =
        board.hypervisor_base() - abi::guest_tree_room - board.ramdisk_address();
    if (ramdisk.size > room) {
        throw bad_input("the ramdisk is too large: {} bytes, but only {} fit", ramdisk.size, room);
    }
    for (const Module& part : program.parts) {
        if (overlap(part, ramdisk)) {
            throw bad_input("the kernel, at {:#x}, is too large: it overlaps the ramdisk, at {:#x}",
                            part.address, ramdisk.address);
        }
    }
    return ramdisk;
}

/// A raw binary or zImage at the usual place is a module, as a boot loader describes it.
std::optional<Module> kernel_module(const GuestProgram& program) {
    return program.entry ? std::nullopt : std::optional(program.parts.front());
}

Bytes board_tree(const Options& options, const Board& board, const std::string& qemu) {
    if (options.tree.empty() && !board.described_by.empty()) {
        return machine_tree(board, options, qemu);
    }
    if (options.tree.empty()) {
        throw bad_input("no device tree given: {} needs --dtb {}, which is in the kernel's package "
                        "(/usr/lib/linux-image-VERSION) or its build (arch/arm/boot/dts)",
                        board.name, board.tree);
    }
    const Bytes tree = read_input(options.tree, "device tree");
    check_tree(tree, options.tree);
    check_board(tree, options.tree, board);
    return tree;
}

/// Only whether it is `flight` matters here.
BootPolicy boot_policy(const Options& options) {
    return {options.policy == "flight" ? abi::Policy::flight : abi::Policy::drop,
            options.guest_reader};
}

BootTree boot_tree(const Options& options, const Board& board, const Bytes& tree,
                   const GuestProgram& program, const Serials& serials) {
    return {.memory = options.memory - board.withheld_memory,
            .cpus = options.cpus,
            .kernel = kernel_module(program),
            .ramdisk = ramdisk_module(options, board, program),
            .command_line = options.command_line,
            .trace = select_devices(options.trace, tree),
            .engine = options.engine,
            .policy = options.policy,
            .slow_path = options.slow_path,
            .no_breakpoints = options.no_breakpoints,
            .pre = options.pre,
            .area_size = static_cast<std::uint32_t>(options.area_size),
            .guest_reader = options.guest_reader,
            .control_page = options.control_page.value_or(true),
            .requests = early_requests(options.at_start, tree, "--at-start ", boot_policy(options)),
            .uart = serials.hypervisor_node,
            .stream = serials.stream_node,
            .stream_beside = options.stream_beside,
            .stream_baud = options.stream_baud,
            .stream_quantum = options.stream_quantum,
            .stream_shared = options.stream_shared,
            .stream_fold = options.stream_fold,
            .task_names = {},
            .entry = program.entry,
            .guest_tree = options.tree_at};
}

/// With shared memory this program reads tasks from the guest's RAM itself (linux/).
std::optional<symbols::TaskOffsets> task_names(const Options& options, const KernelNames& names) {
    const bool others_read = !options.stream.empty() || options.guest_reader;
    return others_read ? names.task_offsets : std::nullopt;
}

void check_stream_options(const Options& options) {
    const bool any = !options.stream_file.empty() || options.stream_beside || options.stream_baud ||
                     options.stream_shared || options.stream_quantum ||
                     !options.stream_fold.empty() || !options.control.empty();
    if (any && options.stream.empty()) {
        throw bad_input("--ctl and --stream-file, -beside, -shared, -baud, -quantum, -fold need "
                        "--stream");
    }
    if (!options.control.empty() && !options.control_page.value_or(true)) {
        throw bad_input("--ctl and --no-control-page exclude each other: without control the "
                        "hypervisor takes no commands from the wire");
    }
    if (options.stream_shared && (options.console || !options.control.empty())) {
        throw bad_input("--stream-shared excludes --console and --ctl: the guest receives what "
                        "arrives on this UART");
    }
    if (options.stream_beside && options.stream_file.empty()) {
        throw bad_input("--stream-beside needs --stream-file, which takes the stream");
    }
}

void check_guest_reader(const Options& options) {
    if (options.guest_reader && !options.stream.empty()) {
        throw bad_input(
            "--guest-reader and --stream exclude each other: only one can drain the rings");
    }
    if (options.guest_reader && options.policy == "stall") {
        throw bad_input(
            "--guest-reader and --policy stall exclude each other: the guest would wait for "
            "itself");
    }
}

void check_at_start(const Options& options) {
    if (!options.at_start.empty() && options.engine == "unprotect") {
        throw bad_input(
            "--at-start and --engine unprotect exclude each other: this engine takes no commands");
    }
}

void check_sd_card(const Options& options, const Board& board) {
    if (!options.sd_image.empty()) {
        if (!board.sd_card) {
            throw bad_input("--sd: {} has no SD card", board.name);
        }
        open_input(options.sd_image);
    }
}

void check_hypervisor_log(const Options& options, const Board& board) {
    if (!options.hypervisor_log.empty() && board.one_serial()) {
        throw bad_input("--hyp-log: {} has one UART, so the hypervisor's messages are in the "
                        "guest's console",
                        board.name);
    }
}

void check_outputs(const Options& options, const std::string& hypervisor) {
    std::vector<std::string> inputs = options.symbols;
    inputs.insert(inputs.end(),
                  {hypervisor, options.kernel, options.tree, options.ramdisk, options.sd_image});
    const std::vector<std::string>& registers = options.live.events.registers;
    inputs.insert(inputs.end(), registers.begin(), registers.end());
    for (const std::string& output : {options.output, options.console_log, options.hypervisor_log,
                                      options.access_log, options.stream_file, options.ram}) {
        check_distinct(output, inputs);
    }
    const Numbered boots = options.reboots > 0 ? Numbered::yes : Numbered::no;
    check_distinct_outputs({{"-o", options.output, boots},
                            {"--console-log", options.console_log, Numbered::no},
                            {"--hyp-log", options.hypervisor_log, Numbered::no},
                            {"--access-log", options.access_log, boots},
                            {"--stream-file", options.stream_file, Numbered::no},
                            {"--ram", options.ram, Numbered::no},
                            {"--ctl", options.control, Numbered::no}});
}

// A device has no end, or does not return what was written. A pipe for the console is allowed:
// others read it.
void check_read_back(const Options& options) {
    struct Output {
        const char* name;
        const std::string& path;
        bool read;
    };
    if (prints(options)) {
        view::check_read_back(options.output);
    }
    const bool pipe = std::filesystem::is_fifo(options.console_log);
    const Output outputs[] = {
        {"--console-log", options.console_log, !pipe},
        {"--hyp-log", options.hypervisor_log, true},
        {"--stream-file", options.stream_file, options.reads_stream() || options.stream_shared},
        {"--access-log", options.access_log, options.reboots > 0},
    };
    for (const Output& output : outputs) {
        if (output.read && std::filesystem::exists(output.path) &&
            !std::filesystem::is_regular_file(output.path)) {
            throw bad_input("{} {}: must be a regular file, because it is read back", output.name,
                            output.path);
        }
    }
}

void check_place(const Bytes& elf, const std::string& path, const Board& board) {
    const std::vector<Elf32_Phdr> segments = load_segments(elf, "the hypervisor " + path);
    const auto lowest = std::ranges::min_element(segments, {}, &Elf32_Phdr::p_paddr);
    if (lowest == segments.end() || lowest->p_paddr != board.hypervisor_base()) {
        throw bad_input("the hypervisor {} is not linked for {:#x}, where it must lie here", path,
                        board.hypervisor_base());
    }
}

} // namespace

Plan make_plan(const Options& given) {
    Board board = given.tried_board ? *given.tried_board : find_board(given.board);
    Options options = given;
    if (options.memory == 0) {
        options.memory = board.memory;
    }
    check_cpus(options, board);
    check_area(options);
    check_memory(options, board);
    board.place = options.at_top ? top_base(board.ram_base + options.memory - board.withheld_memory,
                                            options.area_size)
                                 : 0;
    check_hypervisor_log(options, board);
    check_stream_options(options);
    check_guest_reader(options);
    check_at_start(options);
    Plan plan{board, options, find_program(options.qemu), options.hypervisor, {}, {}, {}, {}, {},
              {},    {}};
    if (plan.hypervisor.empty()) {
        plan.hypervisor = find_hypervisor(folder_of_this_program(), board.hypervisor_base());
    }
    check_outputs(options, plan.hypervisor);
    check_read_back(options);
    const Bytes tree = board_tree(options, board, plan.qemu);
    plan.serials = assign_serials(options, board, tree);
    plan.program = guest_program(options, board, tree);
    BootTree what = boot_tree(options, board, tree, plan.program, plan.serials);
    check_sd_card(options, board);
    const Bytes elf = read_input(plan.hypervisor, "hypervisor");
    elf_header(elf, "the hypervisor " + plan.hypervisor);
    if (options.at_top) { // elsewhere it may be a boot loader that starts it
        check_place(elf, plan.hypervisor, board);
    }
    if (board.boot_image) {
        plan.boot_image = boot_image(elf, plan.hypervisor);
    }
    plan.names = kernel_names(options);
    what.task_names = task_names(options, plan.names);
    if (!options.stacks.empty()) {
        const StackChoice stacks = choose_stacks(options.stacks, tree);
        what.stacks = stacks.devices;
        what.stack_size = stacks.size;
    }
    if (options.probes_later || !options.probes.empty()) {
        Probes probes = probes_of(options.probes, options.returns,
                                  read_input(options.kernel, "kernel"), board.ram_base);
        what.probes = std::move(probes.cells);
        what.loads_modules = std::move(probes.loads_modules);
        plan.module_probes = std::move(probes.of_modules);
    }
    const bool watches = options.watches_later || !options.watches.empty();
    if (watches || !options.pages.empty()) {
        const auto find = variables_in(symbols::unpack(plan.names.symbols), board.ram_base);
        if (watches) {
            what.watch = watch_cells(options.watches, find);
        }
        if (!options.pages.empty()) {
            what.pages = page_cells(options.pages, find);
        }
    }
    plan.tree = compose_tree(tree, board, what);
    plan.qemu_version = qemu_version(plan.qemu);
    if (!options.access_log.empty()) {
        plan.refused_accesses = refused_accesses(plan.qemu);
    }
    return plan;
}

} // namespace mmioscope::run
