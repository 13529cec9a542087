// From Hyp with everything off to the guest's first instruction.
#include "start/start.hpp"
#include "abi/chosen.hpp"
#include "base/check.hpp"
#include "bringup/bringup.hpp"
#include "dev/console.hpp"
#include "dt/board.hpp"
#include "dt/cpus.hpp"
#include "dt/guest_tree.hpp"
#include "dt/placement.hpp"
#include "dt/regions.hpp"
#include "engine/service.hpp"
#include "guest/reset.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/fast_code.hpp"
#include "port/memory.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"
#include "start/area.hpp"
#include "start/tables.hpp"
#include "trap/dispatch.hpp"
#include "trap/fast_path.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace mmioscope {

namespace {

constexpr BootError no_tables{"not enough room for the translation tables", ""};
constexpr BootError no_spans{"too many devices for the region map", ""};

/// Reports anything wrong with what the boot loader handed over, in one line (with the list of
/// known devices if it names an unknown one), and halts.
[[noreturn]] void refuse(Machine& machine, const BootError& error) {
    Console uart(machine.board.uart, machine.cpus[0].bus);
    uart.start();
    print(uart, abi::stop_line, error.what, error.subject[0] != '\0' ? ": " : "", error.subject,
          "\n");
    for (const abi::RegionEntry& region : machine.regions)
        if (error.lists_devices && region.reg_index == 0)
            print(uart, "mmioscope: known: ", region.path, "\n");
    print(uart, abi::end_of_report, "\n");
    port::halt();
}

bool is_tree(PhysicalAddress at) {
    return *port::memory_at<const std::uint32_t>(at) == 0xedfe'0dd0; // the magic, big-endian
}

/// Where the boot loader put the device tree: at the place reserved for it, or at r2, as for Linux.
/// r2 is read last: what a loader that passes no tree leaves there may be the address of anything.
Range find_boot_tree(const Machine& machine, std::uint32_t r2) {
    const Range& place = machine.image.boot_tree;
    if (is_tree({place.begin}) || r2 == 0 || r2 % 4 != 0 || !is_tree({r2})) return place;
    return {r2, std::min(std::uint64_t{r2} + abi::max_tree_size, lpae::input_end)};
}

BootError check_memory(const Tree& tree, const Machine& machine, const MemoryMap& board_memory) {
    if (auto e = check_place(tree, board_memory, machine.own_memory)) return e;
    if (machine.config.area_size < smallest_area(machine.cpu_count))
        return {"mmioscope,area-size is too small for this many CPUs", ""};
    return {};
}

/// A tree at the place for it has been used: the next boot's loader may pass another one at r2.
void forget_tree(const Machine& machine, const Setup& setup) {
    const PhysicalAddress place{machine.image.boot_tree.begin};
    if (setup.boot_tree.begin != place.value) return;
    port::store_shared(*port::memory_at<std::uint32_t>(place), 0);
    port::flush_to_coherency(place, sizeof(std::uint32_t));
}

/// Where the guest's device tree is written.
Range guest_tree_room(const Machine& machine) {
    const std::uint64_t begin = machine.config.guest_tree.value_or(
        static_cast<std::uint32_t>(machine.image.text.begin - abi::guest_tree_room));
    return {begin, begin + abi::guest_tree_room};
}

bool is_guest_memory(const Machine& machine, const Range& part) {
    return std::ranges::any_of(machine.guest_memory,
                               [&](const Range& range) { return range.contains(part); });
}

/// What Hyp itself reads and writes.
BootError check_no_map(const Machine& machine, const Range& boot_tree) {
    for (const Range& range : machine.no_map) {
        if (range.overlaps(guest_tree_room(machine)))
            return {"mmioscope,guest-tree lies in memory with no-map", ""};
        if (range.overlaps(boot_tree)) return {"the device tree lies in memory with no-map", ""};
    }
    return {};
}

BootError check_modules(const Machine& machine) {
    const BootModules& modules = machine.config.modules;
    const Range tree = guest_tree_room(machine);
    if (!is_guest_memory(machine, tree))
        return {"mmioscope,guest-tree lies outside the guest's memory", ""};
    for (const Range& module : {modules.kernel, modules.ramdisk}) {
        if (module.empty()) continue;
        if (!is_guest_memory(machine, module))
            return {"a boot module lies outside the guest's memory", ""};
        if (module.overlaps(tree))
            return {"a boot module overlaps the place of the guest's device tree", ""};
    }
    if (modules.kernel.overlaps(modules.ramdisk)) return {"kernel and ramdisk overlap", ""};
    return {};
}

/// Withholds the hypervisor's UART from the guest, whatever the device tree says about it.
BootError withhold_uart(Setup& setup, Machine& machine) {
    const Tree& tree = setup.tree;
    if (machine.board.uart_is_guests) {
        const int chosen = tree.find("/chosen");
        if (!tree.has(chosen, abi::chosen::uart)) return {};
        const char* given = tree.text(chosen, abi::chosen::uart);
        return {"mmioscope,uart is not a PL011, an 8250, or one of i.MX",
                given != nullptr ? given : "", true};
    }
    Range range;
    check(tree.reg(machine.board.uart_node, 0, range), "the hypervisor's UART has no registers");
    const bool room =
        machine.map.withhold(range) && setup.withheld_nodes.push_back(machine.board.uart_node);
    return room ? BootError{} : no_spans;
}

BootError read_tree(Setup& setup, Machine& machine) {
    const Tree& tree = setup.tree;
    if (auto e = list_regions(tree, machine.regions, setup.beyond_reach)) return e;
    if (!machine.map.build(machine.regions)) return no_spans;
    if (auto e = read_config(tree, machine.config)) return e;
    MemoryMap board_memory;
    if (auto e = list_memory(tree, board_memory)) return e;
    machine.own_memory = own_memory_at(machine.image.text.begin, machine.config.area_size);
    machine.image.area.end = machine.own_memory.end;
    if (auto e = check_memory(tree, machine, board_memory)) return e;
    machine.guest_memory = board_memory;
    if (auto e = carve(machine.guest_memory, machine.own_memory)) return e;
    if (auto e = check_modules(machine)) return e;
    if (auto e = list_no_map(tree, machine.no_map)) return e;
    if (auto e = check_no_map(machine, setup.boot_tree)) return e;
    const auto conduit = machine.config.conduit;
    check(conduit == psci::Conduit::none || machine.calls.push_back({conduit, 0, &firmware_calls}),
          "too many kinds of calls");
    mark_memory(machine.regions, board_memory);
    // A node that names part of the hypervisor's memory does not get it.
    if (!machine.map.withhold(machine.own_memory)) return no_spans;

    for (Service* service : machine.services)
        if (machine.devices == nullptr) machine.devices = service->engine(machine.config.engine);
    if (machine.devices == nullptr && machine.config.engine == abi::EngineKind::unprotect)
        return {"this image has no such engine", ""};
    if (machine.devices == nullptr) machine.devices = &plain_devices;
    if (auto e = withhold_uart(setup, machine)) return e;
    for (const MachineRegisters& registers : machine.board.machine_registers)
        if (!machine.map.hook(registers.range, machine_register_hooks)) return no_spans;
    for (Service* service : machine.services)
        if (auto e = service->configure(machine, setup)) return e;
    if (machine.config.modules.kernel.empty() && !machine.config.entry)
        return {"/chosen has no boot module that is a kernel", ""};
    return select_traced(tree, machine.regions, machine.map);
}

template <class Table>
bool new_table(Table& table, TablePool& pool) {
    lpae::Descriptor* root = pool.take();
    if (root == nullptr) return false;
    table = Table(root);
    table.invalidate_root();
    return true;
}

/// What may change of memory is in tables of the view's own: roots do not change.
bool separate_memory(const Machine& machine, View& view, TablePool& pool) {
    return machine.memory == MemoryOf::the_start ||
           std::ranges::all_of(machine.guest_memory, [&](const Range& range) {
               return view.split(range, pool, lpae::first_level + 1);
           });
}

/// Those of CPU 0 come first.
bool build_views(Machine& machine, unsigned cpu) {
    View& normal = machine.normal(cpu);
    View& shadow = machine.shadow(cpu);
    TablePool& pool = machine.pool;
    const auto build = [&](View& view, const View* shared, lpae::Attributes as_memory) {
        return build_stage2(view, shared, machine.guest_memory, machine.regions, machine.map,
                            as_memory, pool);
    };
    if (!new_table(shadow, pool)) return false;
    if (cpu != 0 && machine.memory != MemoryOf::each_cpu) {
        normal = machine.normal(0);
        shadow.share(machine.shadow(0), pool);
        return true;
    }
    if (!new_table(normal, pool)) return false;
    if (cpu != 0) normal.share(machine.normal(0), pool);
    else if (!build(normal, nullptr, lpae::guest_memory) ||
             (machine.config.guest_reader &&
              !normal.map(machine.image.area, lpae::guest_shared, pool)))
        return false;
    return separate_memory(machine, normal, pool) &&
           build(shadow, &normal, machine.breakpoints ? lpae::guest_memory : lpae::guest_data) &&
           separate_memory(machine, shadow, pool);
}

BootError build_tables(Machine& machine, const Setup& setup) {
    if (!new_table(machine.hyp_table, machine.pool) ||
        !build_stage1(machine.hyp_table, machine.image, setup.boot_tree, machine.board.uart,
                      machine.guest_memory, machine.no_map, machine.regions, machine.map,
                      machine.config.guest_reader, machine.pool))
        return no_tables;
    if (!build_views(machine, 0)) return no_tables;
    for (Service* service : machine.services)
        if (!service->add_to_tables(machine)) return no_tables;
    for (unsigned i = 1; i < machine.cpu_count; ++i)
        if (!build_views(machine, i)) return no_tables;
    for (unsigned i = 0; !machine.breakpoints && i < machine.cpu_count; ++i)
        if (!machine.cpus[i].step_page.build(machine.shadow(0), machine.pool)) return no_tables;
    for (Span& span : machine.map) {
        span.owner = &machine.locks.of(span.region);
        span.owner->device = span.region;
        span.owner->ops = machine.devices;
        span.memory = (machine.regions[span.region].flags & abi::region_memory) != 0;
    }
    // After the above has decided which pages may change: the index contains exactly those.
    if (!machine.pages.build(machine.map, machine.pool)) return no_tables;
    choose_fast_regions(machine);
    build_fast_dispatch(machine);
    return {};
}

const char* description_of(abi::EngineKind kind) {
    constexpr const char* descriptions[] = {
        "shadow engine", "emulation engine",
        "unprotect engine: the baseline for comparison, IT LOSES EVENTS"};
    return descriptions[static_cast<unsigned>(kind)];
}

/// Without breakpoints emulation does what it can, since not everything can be stepped.
BootError settle_engine(Machine& machine, DebugUnit& debug, NoSteps& why) {
    abi::EngineKind& engine = machine.config.engine;
    why = debug.start(machine.config.no_breakpoints);
    machine.breakpoints = why == NoSteps::none;
    if (machine.breakpoints) return {};
    if (engine == abi::EngineKind::unprotect)
        return {"engine unprotect needs breakpoints, and none work here", ""};
    engine = abi::EngineKind::emulation;
    return {};
}

const char* reason_of(NoSteps why) {
    return why == NoSteps::forbidden ? abi::chosen::no_breakpoints
           : why == NoSteps::silent  ? "MDBGen can be set, but no debug event comes"
                                     : "DBGEN is low, or a debugger holds the CPU";
}

void report_missing_breakpoints(Console& uart, NoSteps why) {
    print(uart, "mmioscope: no breakpoints (", reason_of(why),
          "): no engine but emulation; what it cannot do is stepped by SMC at PL1, else refused\n");
}

} // namespace

// Index: direction (WnR), SAS, SSE, a zero, SRT. LR is banked, and has its own ways, for words of
// PL1 only; SP and PC have none.
void build_fast_dispatch(Machine& machine) {
    constexpr unsigned of_word = 2, to_lr = 3, lr = 14, sizes = 3;
    const bool emulation = machine.config.engine == abi::EngineKind::emulation;
    auto& [of_pl1, of_user] = machine.fast_dispatch;
    for (std::uint32_t& way : of_user) way = port::fast_code(FastCode::slow);
    for (unsigned write = 0; write < 2; ++write) {
        for (unsigned size = 0; size < sizes; ++size) {
            std::uint32_t* ways = of_user + write * 256 + size * 64;
            const std::uint32_t way = port::fast_access(emulation, write * first_store + size);
            for (unsigned reg = 0; reg < 13; ++reg) ways[reg] = way;
        }
    }
    std::copy(std::begin(of_user), std::end(of_user), of_pl1);
    for (unsigned write = 0; write < 2; ++write)
        of_pl1[write * 256 + of_word * 64 + lr] =
            port::fast_access(emulation, write * first_store + to_lr);
}

void call_other_cpus(const Board& on, OwnBus& bus, unsigned cpus, PhysicalAddress entry) {
    const MachineRegisters* registers = on.start_mailbox();
    if (on.psci || registers == nullptr) return;
    const StartMailbox& mailbox = *registers->device->mailbox;
    const PhysicalAddress base{registers->range.begin};
    for (unsigned cpu = 1; cpu < cpus; ++cpu) {
        bus.write(base + mailbox.address + cpu * mailbox.per_cpu,
                  static_cast<std::uint32_t>(entry.value));
        if (mailbox.signature != 0) bus.write(base + mailbox.signature, mailbox.signed_for + cpu);
        port::send_event();
    }
}

BootError find_board(Machine& machine, Setup& setup, std::uint32_t r2) {
    setup.boot_tree = find_boot_tree(machine, r2);
    if (!is_tree({setup.boot_tree.begin}))
        return {"no device tree at r2, nor 14 MiB above the image: the boot loader must load it",
                ""};
    if (auto e = setup.tree.read(port::memory_at<const void>({setup.boot_tree.begin}),
                                 setup.boot_tree.size()))
        return e;
    setup.boot_tree.end = setup.boot_tree.begin + setup.tree.size();
    if (auto e = read_board(setup.tree, machine.board)) return e;
    if (auto e = read_cpus(setup.tree, port::read<reg::MPIDR>(), machine.clusters)) return e;
    machine.cpu_count = machine.clusters.count();
    return {};
}

Frame start_machine(Machine& machine, Setup& setup, Cpu& cpu, const BootError& failed) {
    if (failed) refuse(machine, failed);
    const Range& boot_tree = setup.boot_tree;
    if (!new_table(setup.hyp_boot_table, machine.pool) ||
        !build_boot_stage1(setup.hyp_boot_table, machine.image, boot_tree, machine.board.uart,
                           machine.pool))
        refuse(machine, no_tables);
    enable_stage1(setup.hyp_boot_table, stack_end(machine.image, cpu.number));

    Tree& tree = setup.tree;
    if (auto e = read_tree(setup, machine)) refuse(machine, e);
    NoSteps no_steps{};
    if (auto e = settle_engine(machine, cpu.debug, no_steps)) refuse(machine, e);
    if (auto e = build_tables(machine, setup)) refuse(machine, e);
    change_stage1(machine.hyp_table);
    // The first table maps the tree cacheable, the second one only what is the hypervisor's: no
    // line of the guest's memory stays in a cache (trap/translate.hpp).
    port::flush_to_coherency(
        {page_floor(boot_tree.begin)},
        static_cast<std::size_t>(page_ceil(boot_tree.end) - page_floor(boot_tree.begin)));

    Range room = guest_tree_room(machine);
    if (boot_tree.overlaps(room)) { // the board's tree moves to the end of that room
        room.end = (room.end - tree.size()) & ~std::uint64_t{3};
        tree.move(port::memory_at<void>({room.end}));
    }
    const PhysicalAddress guest_tree{room.begin};
    if (auto e = make_guest_tree(
            tree, machine.guest_memory, machine.config.modules, setup.withheld_nodes,
            port::memory_at<void>(guest_tree), static_cast<std::size_t>(room.size()),
            {machine.control_page, machine.image.area, machine.config.guest_reader}))
        refuse(machine, e);
    const std::uint32_t tree_size = Tree::size_of(port::memory_at<const void>(guest_tree));

    port::flush_to_coherency(guest_tree, tree_size); // the guest starts with its caches off

    make_area(machine, machine.image.area);
    machine.power.set(cpu.number, CpuPower::on);
    prepare_cpu(machine, cpu);
    Console uart(machine.board.uart, cpu.bus);
    uart.start();
    print(uart, "mmioscope: ", machine.board.name, ", ", std::uint32_t{machine.cpu_count},
          " CPUs, ", description_of(machine.config.engine), "\n");
    if (no_steps != NoSteps::none) report_missing_breakpoints(uart, no_steps);
    if (setup.beyond_reach >= 0)
        print(uart, "mmioscope: ", tree.name(setup.beyond_reach),
              " reaches above 4 GiB, where nothing is mapped: an access there is an abort\n");
    if (loses_clock(tree, setup.withheld_nodes))
        print(uart,
              "mmioscope: clk_ignore_unused is added to the guest's command line, so that the "
              "hypervisor's UARTs keep their clocks\n");
    for (Service* service : machine.services) service->before_readers(cpu, uart);
    publish_area(machine, {guest_tree.value, guest_tree.value + tree_size});
    for (Service* service : machine.services)
        if (auto e = service->start(machine, setup)) refuse(machine, e);
    forget_tree(machine, setup);
    call_other_cpus(machine.board, cpu.bus, machine.cpu_count, {machine.image.text.begin});
    check_way_back(cpu);
    const std::uint32_t entry = machine.config.entry.value_or(
        static_cast<std::uint32_t>(machine.config.modules.kernel.begin));
    return guest_start_frame(entry, 0, ~0u, static_cast<std::uint32_t>(guest_tree.value));
}

} // namespace mmioscope
