#include "plan/survey.hpp"

#include "abi/layout.hpp"
#include "dt/board.hpp"
#include "dt/cpus.hpp"
#include "dt/placement.hpp"
#include "dt/uart.hpp"
#include "run/board.hpp"
#include "system/error.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace mmioscope::plan {

namespace {

/// Cores of ARMv7-A with the Virtualization Extensions (their technical reference manuals).
bool has_hyp(const Tree& tree, int cpu) {
    return tree.compatible(cpu,
                           {"arm,cortex-a7", "arm,cortex-a12", "arm,cortex-a15", "arm,cortex-a17"});
}

/// For each node, where its interrupts go by `interrupt-parent`, which children take from their
/// parents; negative: nowhere.
std::vector<int> interrupt_parents(const Tree& tree) {
    std::map<std::uint32_t, int> phandles;
    for (int node = 0; node < tree.count(); ++node) {
        phandles.emplace(tree.cell(node, "phandle", 0), node);
    }
    std::vector<int> parents;
    for (int node = 0; node < tree.count(); ++node) {
        const std::uint32_t to = tree.cell(node, "interrupt-parent", 0);
        const auto found = to == 0 ? phandles.end() : phandles.find(to);
        if (found != phandles.end()) {
            parents.push_back(found->second);
        } else {
            parents.push_back(node == 0 ? -1
                                        : parents[static_cast<std::size_t>(tree.parent(node))]);
        }
    }
    return parents;
}

} // namespace

std::vector<std::uint64_t> image_bases() {
    std::set<std::uint64_t> bases;
    for (const std::string& name : run::board_names()) {
        bases.insert(run::find_board(name).hypervisor_base());
    }
    return {bases.begin(), bases.end()};
}

Survey::Survey(std::span<const std::byte> blob, const std::optional<Range>& given, bool at_top)
    : storage((blob.size() + 7) / 8) {
    if (!blob.empty()) {
        std::memcpy(storage.data(), blob.data(), blob.size());
    }
    const std::uint64_t room = std::min<std::uint64_t>(blob.size(), abi::max_tree_size);
    if (const BootError error = tree.read(storage.data(), room)) {
        throw bad_input("{}{}{}", error.what, *error.subject == '\0' ? "" : ": ", error.subject);
    }
    read_cpus();
    read_devices();
    read_memory(given);
    read_board();
    if (!memory.empty()) {
        at_top ? find_top() : find_low();
    }
    if (!own.empty()) {
        apply_place();
    }
    find_wrong_cells();
    find_cycles();
}

std::string Survey::path(int node) const {
    char text[1024];
    tree.path(node, text, sizeof text);
    return text;
}

bool Survey::starts_cpus() const {
    return cpus.size() < 2 || board.psci || !board.machine_registers.empty();
}

void Survey::add(std::string_view kind, const BootError& error) {
    if (error) {
        faults.push_back({kind, error.subject, error.what});
    }
}

void Survey::read_cpus() {
    arch::Clusters clusters{};
    add("CPUs", mmioscope::read_cpus(tree, {}, clusters));
    const int parent = tree.find("/cpus");
    for (int node = tree.first_child(parent); node >= 0; node = tree.next_child(node)) {
        if (!tree.is_type(node, "cpu") || tree.failed(node)) {
            continue;
        }
        cpus.push_back(node);
        if (!has_hyp(tree, node)) {
            const char* const core = tree.text(node, "compatible");
            faults.push_back({"core", path(node),
                              fmt::format("{} is no core that is known to have the ARMv7 "
                                          "Virtualization Extensions",
                                          core != nullptr ? core : "a CPU without `compatible`")});
        }
    }
}

void Survey::read_devices() {
    add("devices", list_regions(tree, regions, beyond_reach));
    if (!map.build(regions)) {
        faults.push_back({"devices", "", "too many devices for the region map"});
    }
}

void Survey::read_memory(const std::optional<Range>& given) {
    if (given) {
        (void)memory.push_back(*given);
    } else if (const BootError error = list_memory(tree, memory)) {
        int node = 0;
        while (node < tree.count() && !tree.is_type(node, "memory")) {
            ++node;
        }
        if (memory.empty() && node < tree.count()) {
            faults.push_back({"memory", path(node),
                              tree.disabled(node) ? "the memory node is disabled; say --memory"
                                                  : "a memory node without a size; say --memory"});
        } else {
            faults.push_back(
                {"memory", error.subject,
                 fmt::format("{}{}", error.what, memory.empty() ? "; say --memory" : "")});
        }
    }
    mark_memory(regions, memory);
}

void Survey::read_board() {
    mmioscope::read_board(tree, board);
    if (board.uart_node < 0) {
        add_unknown_uart();
    }
    const auto in = [this](PhysicalAddress address) {
        const Span* const span = map.find(address);
        return span == nullptr ? -1 : tree.find(regions[span->region].path);
    };
    gic = board.gic_distributor.value == 0 ? -1 : in(board.gic_distributor);
    for (const auto& [address, node] : {std::pair{board.gic_distributor, gic},
                                        {board.gic_cpu_interface, gic},
                                        {board.uart.base, board.uart_node}}) {
        if (node >= 0 && in_memory(memory, address)) {
            faults.push_back(
                {"overlap", path(node), "registers lie in what the tree calls memory"});
        }
    }
}

void Survey::add_unknown_uart() {
    const auto first = [this](auto&& fits) {
        int node = 0;
        while (node < tree.count() && (tree.disabled(node) || !fits(node))) {
            ++node;
        }
        return node < tree.count() ? node : -1;
    };
    const int console = console_of(tree);
    const int node = console >= 0 ? console : first([this](int any) {
        return std::strncmp(tree.name(any), "serial@", 7) == 0;
    });
    const int other = first([this](int any) { return uart_of(tree, any).has_value(); });
    const char* const model = node >= 0 ? tree.text(node, "compatible") : nullptr;
    faults.push_back(
        {"UART", node >= 0 ? path(node) : "",
         fmt::format("{}{} is no PL011, 8250 or i.MX UART, so the hypervisor can {}",
                     model != nullptr ? model : "the console",
                     model != nullptr && console >= 0 ? ", the console," : "",
                     other < 0 ? "neither send the trace nor tell why it stops"
                               : fmt::format("tell why it stops only on another one: say "
                                             "mmioscope,uart = \"{}\" in /chosen",
                                             path(other)))});
}

/// The hypervisor's image lies 128 MiB above the beginning of memory (run/board.hpp), at one of the
/// addresses that it is linked for.
void Survey::find_low() {
    for (const std::uint64_t base : image_bases()) {
        const Range place = own_memory_at(base, abi::default_area_size);
        const BootError error = check_place(tree, memory, place);
        if (!error) {
            own = place;
            load = base;
            return;
        }
        // Where memory begins elsewhere, it would say nothing.
        if (base == memory[0].begin + run::Board{}.hypervisor_base()) {
            add("place", error);
            return;
        }
    }
    faults.push_back({"image", "",
                      fmt::format("no image is linked for memory that begins at {:#x}, only for "
                                  "{:#x}: build one (hyp/hyp.mk), or say --place top",
                                  memory[0].begin, fmt::join(image_bases(), ", "))});
}

/// The boot loader lives there, so it loads the image 128 MiB above the beginning, with one file of
/// all behind it, and the image goes to its place by itself (boot/start.S).
void Survey::find_top() {
    constexpr std::uint64_t room = 48u << 20; // of the image and that file
    constexpr std::uint64_t reach = std::uint64_t{1} << 32;
    const std::uint64_t end = std::min(memory[0].end, reach);
    load = memory[0].begin + run::Board{}.hypervisor_base();
    if (end < load + room + abi::area_offset + abi::default_area_size) {
        faults.push_back({"place", "", "too little memory for --place top: leave it out"});
        return;
    }
    const Range place =
        own_memory_at(run::top_base(end, abi::default_area_size), abi::default_area_size);
    const BootError error = check_place(tree, memory, place);
    add("place", error);
    if (!error) {
        own = place;
    }
}

/// As at the boot: the guest reaches neither the hypervisor nor, by `trace all`, memory.
void Survey::apply_place() {
    bool room = map.withhold(own);
    Range uart;
    if (!board.uart_is_guests && tree.reg(board.uart_node, 0, uart)) {
        room = room && map.withhold(uart);
    }
    if (!room) {
        faults.push_back({"devices", "", "too many devices for the region map"});
    }
    add("devices", select_traced(tree, regions, map));
}

/// Devices of which the hypervisor would miss a part without saying so.
void Survey::find_wrong_cells() {
    for (int node = 1; node < tree.count(); ++node) {
        const int bus = tree.parent(node);
        auto place = tree.first_reg(node);
        Range first;
        if (tree.is_type(node, "memory") || !tree.next_reg(place, first)) {
            continue;
        }
        const std::size_t entry = 4 * (tree.address_cells(bus) + tree.size_cells(bus));
        const std::size_t size = tree.property(node, "reg").size;
        if (size % entry != 0) {
            faults.push_back(
                {"cells", path(node),
                 fmt::format("reg has {} bytes, no multiple of the {} that the parent's cells make",
                             size, entry)});
        }
    }
}

/// Interrupt controllers whose interrupts come back to them; a root is its own parent.
void Survey::find_cycles() {
    const std::vector<int> parents = interrupt_parents(tree);
    std::vector<int> seen(parents.size(), -1); // from which controller on the way
    for (int start = 0; start < tree.count(); ++start) {
        if (!tree.has(start, "interrupt-controller")) {
            continue;
        }
        int node = start;
        int next = parents[static_cast<std::size_t>(node)];
        while (next >= 0 && next != node && seen[static_cast<std::size_t>(node)] < 0) {
            seen[static_cast<std::size_t>(node)] = start;
            node = next;
            next = parents[static_cast<std::size_t>(node)];
        }
        if (next != node && seen[static_cast<std::size_t>(node)] == start) {
            faults.push_back({"cycle", path(node), "interrupt-parent leads in a circle"});
        }
    }
}

} // namespace mmioscope::plan
