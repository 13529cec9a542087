#include "plan/board_plan.hpp"

#include "abi/chosen.hpp"
#include "abi/layout.hpp"
#include "dt/board.hpp"
#include "dt/uart.hpp"
#include "system/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace mmioscope::plan {

namespace {

using Lines = std::vector<Line>;

constexpr std::string_view missing = "missing";

std::string model_of(const Tree& tree, int node) {
    const char* const model = tree.text(node, "compatible");
    return model != nullptr ? model : "";
}

void add_verdict(const Survey& board, Lines& out) {
    const char* const name = board.tree.text(0, "model");
    const auto of_memory = [](const Fault& fault) { return fault.kind == "memory"; };
    const char* const answer = board.faults.empty() ? "yes, with what the boot loader must supply"
                               : std::ranges::all_of(board.faults, of_memory)
                                   ? "not known without the board's memory"
                                   : "no";
    out.push_back({.section = "verdict",
                   .text = fmt::format("{}: can be traced with this version: {}",
                                       name != nullptr ? name : board.board.name, answer)});
    for (const Fault& fault : board.faults) {
        out.push_back({.section = missing,
                       .node = fault.node,
                       .text = fmt::format("{}: {}", fault.kind, fault.text)});
    }
}

void add_needs(const Survey& board, Lines& out) {
    const auto need = [&out](std::string node, std::string text) {
        out.push_back({.section = "supply", .node = std::move(node), .text = std::move(text)});
    };
    need("", board.secure_will_do()
                 ? "starts the hypervisor in Hyp mode or in Secure Supervisor mode"
                 : "starts the hypervisor in Hyp mode");
    need("/chosen", "kernel and ramdisk as boot modules (the commands below)");
    if (!board.starts_cpus()) {
        need("/cpus", "PSCI firmware and its node /psci: nothing else is known that starts the "
                      "other CPUs; or remove these from /cpus");
    }
    for (int node = 0; node < board.tree.count(); ++node) {
        if (board.tree.compatible(node, {"arm,armv7-timer"}) &&
            board.tree.has(node, "clock-frequency")) {
            need(board.path(node), "the frequency in CNTFRQ of each CPU: that the tree says it "
                                   "hints that firmware does not set it");
        }
    }
}

void add_reserved(const Survey& board, Lines& out) {
    const Tree& tree = board.tree;
    Range kept;
    for (unsigned n = 0; tree.reserved(n, kept); ++n) {
        out.push_back({"kept", "", kept.begin, kept.size(), "of firmware: /memreserve/"});
    }
    const int reserved = tree.find("/reserved-memory");
    for (int node = tree.first_child(reserved); node >= 0; node = tree.next_child(node)) {
        auto place = tree.first_reg(node);
        while (tree.next_reg(place, kept)) {
            out.push_back({"kept", board.path(node), kept.begin, kept.size(),
                           tree.has(node, "no-map") ? "not for Linux (no-map)" : "reserved"});
        }
    }
}

void add_memory(const Survey& board, Lines& out) {
    for (const Range& range : board.memory) {
        out.push_back({"memory", "", range.begin, range.size(), ""});
    }
    if (board.beyond_reach >= 0) {
        out.push_back({.section = "not mapped",
                       .node = board.path(board.beyond_reach),
                       .text = "it reaches above 4 GiB: an access there is an external abort"});
    }
    if (!board.own.empty()) {
        const std::uint64_t base = board.own.begin;
        out.push_back({"hypervisor", "", base, board.own.size(),
                       "image, control page and trace area, hidden from the guest"});
        out.push_back({"hypervisor", "", base - abi::guest_tree_room, abi::guest_tree_room,
                       "place of the guest's device tree"});
    }
    add_reserved(board, out);
}

void add_cpus(const Survey& board, Lines& out) {
    for (const int cpu : board.cpus) {
        const Property reg = board.tree.property(cpu, "reg");
        const char* const method = board.tree.text(cpu, "enable-method");
        const char* const common = board.tree.text(board.tree.parent(cpu), "enable-method");
        Line line{.section = "CPU", .node = board.path(cpu)};
        if (reg.size >= 4) {
            line.address = reg.cell(reg.size / 4 - 1);
        }
        line.text = fmt::format("{}; enable-method: {}", model_of(board.tree, cpu),
                                method != nullptr   ? method
                                : common != nullptr ? common
                                                    : "none");
        out.push_back(std::move(line));
    }
    for (const MachineRegisters& registers : board.board.machine_registers) {
        out.push_back({"CPU start", "", registers.range.begin, registers.range.size(),
                       fmt::format("registers of {}", registers.device->compatible)});
    }
    if (const int psci = psci_node(board.tree); psci >= 0) {
        const char* const method = board.tree.text(psci, "method");
        out.push_back({"CPU start",
                       board.path(psci),
                       {},
                       {},
                       fmt::format("PSCI firmware by {}", method != nullptr ? method : "?")});
    }
}

std::string mates_text(const Survey& board, std::uint16_t region) {
    std::string text;
    for (const std::uint16_t mate : page_mates(board, region)) {
        const std::string_view path = board.regions[mate].path;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", path.substr(path.rfind('/') + 1));
    }
    return text;
}

void add_uart(const Survey& board, int node, std::string_view what, Lines& out) {
    const auto uart = uart_of(board.tree, node);
    const Span* const span = uart ? board.map.find(uart->base) : nullptr;
    const std::string mates = span != nullptr ? mates_text(board, span->region) : "";
    out.push_back({"UART",
                   board.path(node),
                   uart ? uart->base.value : std::optional<std::uint64_t>{},
                   {},
                   fmt::format("{}: {}{}{}", what, model_of(board.tree, node),
                               mates.empty() ? "" : "; in its page also ", mates)});
}

void add_uarts(const Survey& board, Lines& out) {
    if (board.board.uart_node >= 0) {
        add_uart(board, board.board.uart_node,
                 board.board.uart_is_guests ? "the guest's console, and the hypervisor's messages "
                                              "before and after the guest"
                                            : "the hypervisor's messages",
                 out);
    }
    const StreamUart stream = stream_uart(board);
    if (stream.node < 0) {
        out.push_back({.section = "UART",
                       .text = "none for the trace: a program in the guest can take it "
                               "(mmioscope,guest-reader)"});
        return;
    }
    add_uart(board, stream.node,
             stream.shared ? "the trace, which shares the console"
             : board.tree.disabled(stream.node)
                 ? "the trace; disabled in the tree, so the boot loader must turn on pins and clock"
                 : "the trace",
             out);
}

void add_interrupts(const Survey& board, Lines& out) {
    if (board.gic < 0) {
        out.push_back({.section = "interrupts", .text = "no GICv1 or GICv2 with addresses"});
        return;
    }
    Range virtual_interface;
    const bool has_gich = board.tree.reg(board.gic, 2, virtual_interface);
    const std::string gich = has_gich ? fmt::format("GICH at {:#x}", virtual_interface.begin)
                                      : "no GICH, which this hypervisor does not need";
    out.push_back({"interrupts",
                   board.path(board.gic),
                   board.board.gic_distributor.value,
                   {},
                   fmt::format("{}; CPU interface at {:#x}; {}", model_of(board.tree, board.gic),
                               board.board.gic_cpu_interface.value, gich)});
}

/// What `trace all` does with a region.
std::string_view use_of(const Survey& board, std::uint16_t region) {
    const abi::RegionEntry& entry = board.regions[region];
    if (board.map.any_traced(range_of(entry))) {
        return (entry.flags & abi::region_disabled) != 0 ? "traced, disabled" : "traced";
    }
    return (entry.flags & abi::region_memory) != 0 ? "memory"
           : board.memory.empty()                  ? "not known without the memory"
           : board.own.empty()                     ? "not known without the hypervisor's place"
                                                   : "not traced";
}

/// A fault ends with its node, as the boot's messages do.
std::string sentence(const Line& line) {
    if (line.node.empty() || line.text.empty()) {
        return line.node + line.text;
    }
    return line.section == missing ? fmt::format("{}: {}", line.text, line.node)
                                   : fmt::format("{}: {}", line.node, line.text);
}

/// Programs get node and text as columns of their own, people as one, since paths are long.
table::Table table_of(const Lines& lines, table::Shape shape) {
    using table::Look;
    table::Table table;
    table.shape = shape;
    table.columns = {{.name = "section", .title = "about"},
                     {.name = "node"},
                     {"address", "address", Look::number, 0, 8, "", ""},
                     {"size", "size", Look::size, 0, 0, "", ""},
                     {.name = "text"},
                     {.title = "what"}};
    const auto number = [](const std::optional<std::uint64_t>& value) {
        return value ? table::Cell(table::Hex{*value}) : table::Cell();
    };
    for (const Line& line : lines) {
        table.rows.push_back({line.section,
                              line.node.empty() ? table::Cell() : table::Cell(line.node),
                              number(line.address), number(line.size), line.text, sentence(line)});
    }
    return table;
}

} // namespace

std::vector<Line> describe(const Survey& board) {
    Lines lines;
    add_verdict(board, lines);
    add_needs(board, lines);
    add_memory(board, lines);
    add_cpus(board, lines);
    add_uarts(board, lines);
    add_interrupts(board, lines);
    return lines;
}

std::vector<Line> devices(const Survey& board) {
    Lines lines;
    for (std::uint16_t region = 0; region < board.regions.size(); ++region) {
        const abi::RegionEntry& entry = board.regions[region];
        const std::string mates = mates_text(board, region);
        const std::string index = entry.reg_index == 0 ? "" : fmt::format("[{}]", entry.reg_index);
        lines.push_back(
            {"device", entry.path + index, entry.base, entry.size,
             fmt::format("{}{}{}", use_of(board, region), mates.empty() ? "" : "; ", mates)});
    }
    return lines;
}

std::vector<table::Table> tables(const Survey& board) {
    std::vector<table::Table> all{table_of(describe(board), table::Shape::bare),
                                  table_of(devices(board), table::Shape::headed)};
    all.back().columns.front().title = "";
    all.back().columns.back().title = "device: with trace all; what is in the same page";
    for (const auto& [section, title] :
         {std::pair<std::string_view, std::string_view>{"host", "on the host"},
          {"U-Boot", "in U-Boot; mmc 0:1 has the files"},
          {"image", "or in U-Boot with the one file that make image makes"}}) {
        Lines typed = commands(board);
        std::erase_if(typed, [where = section](const Line& line) { return line.section != where; });
        if (typed.empty()) {
            continue;
        }
        all.push_back(table_of(typed, table::Shape::headed));
        for (table::Column& column : all.back().columns) { // lines to copy: nothing else in them
            column.title = "";
        }
        all.back().columns.back().title = title;
    }
    return all;
}

std::vector<std::uint16_t> page_mates(const Survey& board, std::uint16_t of) {
    std::set<std::uint16_t> mates;
    for (const Span& own : board.map) {
        if (own.region != of) {
            continue;
        }
        const Range pages{page_floor(own.range.begin), page_ceil(own.range.end)};
        for (const Span& other : board.map) {
            if (other.range.overlaps(pages) &&
                std::strcmp(board.regions[other.region].path, board.regions[of].path) != 0) {
                mates.insert(other.region);
            }
        }
    }
    return {mates.begin(), mates.end()};
}

StreamUart stream_uart(const Survey& board) {
    const int console = board.board.uart_node;
    int disabled = -1;
    for (int node = 0; node < board.tree.count(); ++node) {
        if (node == console || !uart_of(board.tree, node)) {
            continue;
        }
        if (!board.tree.disabled(node)) {
            return {node, false};
        }
        if (disabled < 0) {
            disabled = node;
        }
    }
    // The stream's service does not share an 8250 (hyp/services/stream/uart_line.hpp).
    if (console >= 0 && board.board.uart.model != UartModel::uart8250) {
        return {console, true};
    }
    return {disabled, false};
}

run::Board tried_board(const std::string& name, std::span<const std::byte> tree) {
    const Survey survey(tree);
    if (!survey.faults.empty()) {
        const Fault& first = survey.faults.front();
        throw bad_input("--board {}: mmioscope plan finds {} missing in its tree: {}{}{}", name,
                        first.kind, first.node, first.node.empty() ? "" : ": ", first.text);
    }
    const Range& memory = survey.memory[0];
    run::Board board{.name = name,
                     .machine = name,
                     .ram_base = memory.begin,
                     .boot_image = survey.board.psci,
                     .memory = memory.size(),
                     .max_memory = memory.size(),
                     .max_cpus = static_cast<unsigned>(survey.cpus.size()),
                     .cpus_soldered = true,
                     .serials = 1,
                     .hypervisor_serial = 0,
                     .sd_card = true};
    return board;
}

namespace {

constexpr std::uint64_t mib = 1u << 20;

std::vector<std::string> module_commands(std::string_view name, std::string_view kind,
                                         std::uint64_t address) {
    return {
        fmt::format("fdt mknode /chosen module@{}", name),
        fmt::format("fdt set /chosen/module@{} compatible {} multiboot,module", name, kind),
        fmt::format("fdt set /chosen/module@{} reg <{:#x} 0x${{{}_size}}>", name, address, name)};
}

std::vector<std::string> load_commands(std::string_view file, std::uint64_t address,
                                       std::string_view size) {
    std::vector<std::string> typed{fmt::format("load mmc 0:1 {:#x} {}", address, file)};
    if (!size.empty()) {
        typed.push_back(fmt::format("setenv {}_size ${{filesize}}", size));
    }
    return typed;
}

} // namespace

std::vector<Line> commands(const Survey& board) {
    if (board.own.empty()) {
        return {};
    }
    run::Board place{};
    place.ram_base = board.load - (place.hypervisor_base() - place.ram_base);
    const std::uint64_t image = place.ram_base + 32 * mib; // where bootm finds it, to move it
    const std::uint64_t tree = place.ram_base + 112 * mib;
    const std::uint64_t all_in_one = board.load + 16 * mib; // free until the hypervisor runs

    std::vector<Line> lines;
    const auto type = [&lines](const std::vector<std::string>& typed, std::string_view where) {
        for (const std::string& text : typed) {
            lines.push_back({.section = where, .text = text});
        }
    };
    type({fmt::format("arm-none-eabi-objcopy -O binary hyp-{:08x}.elf hyp.bin", board.own.begin),
          fmt::format("mkimage -A arm -O linux -T kernel -C none -a {0:#x} -e {0:#x} -d hyp.bin "
                      "mmioscope.img",
                      board.load)},
         "host");
    // The tree and the ramdisk stay where they are loaded: U-Boot would move them to where the
    // trace will be.
    // Without firmware that must stay in Secure state, the hypervisor goes to Hyp by itself. Not
    // every U-Boot that leaves Secure state does.
    const std::vector<std::string> settings{
        fmt::format("setenv bootm_boot_mode {}", board.secure_will_do() ? "sec" : "nonsec"),
        "setenv fdt_high ffffffff", "setenv initrd_high ffffffff"};
    type(settings, "image");
    type(load_commands("mmioscope.itb", all_in_one, ""), "image");
    type({fmt::format("bootm {:#x}", all_in_one)}, "image");
    const auto enter = [&type](const std::vector<std::string>& typed) { type(typed, "U-Boot"); };
    enter(settings);
    enter(load_commands("zImage", place.kernel_address(), "kernel"));
    enter(load_commands("initrd.img", place.ramdisk_address(), "ramdisk"));
    enter(load_commands("board.dtb", tree, ""));
    enter({fmt::format("fdt addr {:#x}", tree), "fdt resize 65536"});
    if (board.tree.find("/chosen") < 0) {
        enter({"fdt mknode / chosen"});
    }
    enter({"fdt set /chosen '#address-cells' <1>", "fdt set /chosen '#size-cells' <1>"});
    enter(module_commands("kernel", abi::chosen::kernel, place.kernel_address()));
    enter(module_commands("ramdisk", abi::chosen::ramdisk, place.ramdisk_address()));
    if (const StreamUart stream = stream_uart(board); stream.node >= 0) {
        enter({fmt::format("fdt set /chosen {} {}", abi::chosen::stream, board.path(stream.node))});
        if (stream.shared) {
            enter({fmt::format("fdt set /chosen {}", abi::chosen::stream_shared)});
        }
    }
    enter(load_commands("mmioscope.img", image, ""));
    enter({fmt::format("bootm {:#x} - {:#x}", image, tree)});
    return lines;
}

} // namespace mmioscope::plan
