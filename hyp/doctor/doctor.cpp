#include "doctor/doctor.hpp"

#include "abi/layout.hpp"
#include "arch/psci.hpp"
#include "control/changing_pages.hpp"
#include "dev/imx_uart_registers.hpp"
#include "dev/uart8250_registers.hpp"
#include "dt/board.hpp"
#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "port/firmware.hpp"
#include "port/memory.hpp"
#include "port/wait.hpp"
#include "trap/fast_path.hpp"

extern "C" void doctor_trial(); ///< doctor/entry.S: the trial's first instruction, on each CPU

namespace mmioscope::doctor {

namespace {

std::uint32_t trial_entry() {
    return static_cast<std::uint32_t>(
        port::address_of(reinterpret_cast<void*>(&doctor_trial)).value);
}

/// Where no table of the guest has memory, but Hyp's own, which the trial uses for its stage 1,
/// has.
std::uint64_t told_page(const Machine& machine) {
    return machine.image.area.begin;
}

/// What the trial runs from.
Range image_of(const Machine& machine) {
    return {machine.image.text.begin, machine.image.data.end};
}

/// A register of `uart` that a read does not change.
PhysicalAddress status_of(const Uart& uart) {
    constexpr std::uint64_t pl011_flags = 0x18; // UARTFR (DDI 0183, 3.3.3)
    switch (uart.model) {
    case UartModel::none: break;
    case UartModel::pl011: return uart.base + pl011_flags;
    case UartModel::uart8250: return register_address(uart, uart8250::line_status);
    case UartModel::imx: return uart.base + imx_uart::status_1;
    }
    return {};
}

/// The register that the guest would write to start CPU `number` without firmware, as the board
/// says what its writes mean.
std::uint32_t start_register(const Board& of, unsigned number) {
    for (const MachineRegisters& registers : of.machine_registers)
        for (std::uint64_t offset = 0; offset < registers.range.size(); offset += 4) {
            const BoardEvent event = registers.device->event_of(offset, 0);
            if (event.kind == BoardEvent::Kind::start_address_set &&
                (event.cpu == BoardEvent::every_cpu || event.cpu == number))
                return static_cast<std::uint32_t>(registers.range.begin + offset);
        }
    return 0;
}

} // namespace

BootError Doctor::configure(Machine& machine, Setup&) {
    OwnBus bus; // not CPU 0's, which has little room before its ring exists
    Console uart(machine.board.uart, bus);
    uart.start();
    report_.to(uart);
    report_.begin("board");
    report_.ok(machine.board.name, ", ", std::uint32_t{machine.cpu_count}, " CPUs, MIDR ",
               Hex{port::read<reg::MIDR>()});
    report_entry(machine);
    report_firmware(machine);
    report_core(machine);
    if (report_.failed() != 0) stop(uart);

    // The trial is the kernel, and everything is as the tracer would have it.
    machine.config.modules = {};
    machine.config.entry = trial_entry();
    machine.config.guest_tree = {};
    machine.config.engine = abi::EngineKind::shadow;
    machine.config.pre = machine.config.slow_path = machine.config.guest_reader = false;
    return {};
}

// What the fast path takes is what control would let the guest change.
bool Doctor::add_to_tables(Machine& machine) {
    if (!prepare_changing_pages(machine.normal(0), machine.regions, machine.map, machine.pool))
        return false;
    const Range image = image_of(machine);
    return machine.normal(0).map(image, lpae::guest_memory, machine.pool) &&
           machine.shadow(0).map(image, machine.breakpoints ? lpae::guest_memory : lpae::guest_data,
                                 machine.pool);
}

void Doctor::give_orders(Machine& machine) {
    const bool gic = machine.board.gic_distributor.value != 0;
    const psci::NamedFunctions& named = machine.config.psci_functions;
    order_.table = static_cast<std::uint32_t>(machine.hyp_table.root().value);
    constexpr std::uint32_t gicd_typer = 4;
    order_.device =
        static_cast<std::uint32_t>(gic ? (machine.board.gic_distributor + gicd_typer).value
                                       : status_of(machine.board.uart).value);
    order_.log2_width = gic ? 2 : machine.board.uart.log2_width;
    order_.cpus = machine.cpu_count;
    order_.steps = machine.cpus[0].debug.usable();
    if (machine.board.psci)
        order_.cpu_on =
            named.cpu_on != 0 ? named.cpu_on : static_cast<std::uint32_t>(psci::Function::cpu_on);
    order_.hvc = machine.config.conduit == psci::Conduit::hvc;
    for (unsigned n = 0; n < machine.cpu_count; ++n) {
        order_.start[n] = start_register(machine.board, n);
        order_.affinity[n] = machine.clusters.affinity_of(n);
    }
    order_.distributor = static_cast<std::uint32_t>(machine.board.gic_distributor.value);
    order_.cpu_interface = static_cast<std::uint32_t>(machine.board.gic_cpu_interface.value);
    constexpr std::uint32_t some_ticks = 50'000'000; // without CNTFRQ
    const std::uint32_t frequency = port::read<reg::CNTFRQ>();
    order_.ticks = frequency != 0 ? frequency : some_ticks;
    order_.flushed = pattern;
    port::flush_to_coherency(port::address_of(&order_), sizeof order_);
}

// The trial's instructions are fetched as a guest's are.
BootError Doctor::start(Machine& machine, const Setup&) {
    give_orders(machine);
    if (machine.guest_memory.push_back(image_of(machine)) &&
        machine.give_page(told_page(machine), *this))
        return {};
    return {"too many pieces of memory", ""};
}

void Doctor::next_round(Cpu& cpu, Frame& frame) {
    constexpr Round after[] = {Round::slow_path, Round::emulation, Round::step};
    round_ = after[static_cast<unsigned>(round_)];
    Machine& machine = *cpu.machine;
    const bool emulation = round_ == Round::emulation;
    machine.config.engine = emulation ? abi::EngineKind::emulation : abi::EngineKind::shadow;
    const Frame kept = frame;    // part of what is prepared
    cpu.view.start(*cpu.normal); // with nothing that an earlier round may have left in the TLB
    cpu.always_slow = round_ == Round::slow_path;
    build_fast_dispatch(machine);
    mmioscope::prepare_fast_path(machine, cpu);
    frame = kept;
}

void Doctor::report_uart() {
    const std::uint32_t frequency = port::read<reg::CNTFRQ>();
    const std::uint32_t characters = report_.characters();
    const std::uint64_t rate =
        report_.ticks() == 0 ? 0 : std::uint64_t{characters} * frequency / report_.ticks();
    report_.begin("UART");
    report_.ok(characters, " characters, ", static_cast<std::uint32_t>(rate), " a second");
}

void Doctor::stop(Console& uart) {
    print(uart, abi::stop_line);
    if (report_.failed() == 0) {
        print(uart, abi::doctor::can_trace, shadow_works_ ? "shadow" : "emulation");
    } else {
        print(uart, abi::doctor::cannot_trace);
        report_.print_first_failed(uart);
    }
    print(uart, "\n", abi::end_of_report, "\n");
    port::halt();
}

void Doctor::end_with_verdict(Cpu& cpu) {
    order_.over = 1;
    Console uart(cpu.machine->board.uart, cpu.bus);
    report_.to(uart);
    report_uart();
    stop(uart);
}

Outcome Doctor::access(Cpu& cpu, Frame& frame, abi::FaultReason) {
    const DeviceAccess& access = cpu.trapped.access;
    if (!access.syndrome) return Outcome::done; // doctor_exclusive_alone()
    const auto what = static_cast<Tell>(access.pa.value % page_size / 4);
    if (access.write) hear(cpu, frame, what, bus_value(frame, access.value, 2));
    else
        set_guest_register(frame, access.reg,
                           static_cast<std::uint32_t>(port::address_of(&order_).value));
    return Outcome::done;
}

} // namespace mmioscope::doctor
