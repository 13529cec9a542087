// The end of the machine: one report on the hypervisor's UART, and all CPUs stop.
#include "trap/panic.hpp"
#include "abi/layout.hpp"
#include "arch/hsr.hpp"
#include "base/check.hpp"
#include "dev/console.hpp"
#include "engine/service.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/report.hpp"
#include "port/shared.hpp"
#include "port/sysreg.hpp"
#include "port/this_cpu.hpp"
#include "port/wait.hpp"

namespace mmioscope {

namespace {

/// All other CPUs halt at their next trap.
class Halting final : public Service {
    bool trap(Cpu&, const Frame&, arch::Hsr) override { port::halt(); }
} constinit halting;

/// A CPU in the guest reads no flags, and the fast path does not either. Without a table, its next
/// fetch traps, and then it halts. The caller completes the invalidation.
void stop_other_cpus(Machine& machine) {
    machine.stopped.store(1, std::memory_order_release);
    machine.first.store(&halting, std::memory_order_release);
    machine.close_fast_paths();
    for (View& view : machine.all_views()) view.invalidate_root();
    port::publish_tables();
    port::write<reg::TLBIALLNSNHIS>(0);
}

void print_core_registers(TextSink& out, const HypFrame& f) {
    for (std::uint32_t i = 0; i < 13; ++i)
        print(out, i == 0 ? "" : i % 4 == 0 ? "\n" : "  ", "r", i, "=", Hex{f.r[i]});
    print(out, "\nsp=", Hex{f.sp}, "  lr=", Hex{f.lr}, "  pc=", Hex{f.pc}, "  psr=", Hex{f.psr},
          "\n");
}

void print_system_registers(TextSink& out) {
    print(out, "HSR=", Hex{port::read<reg::HSR>()}, "  HDFAR=", Hex{port::read<reg::HDFAR>()},
          "  HIFAR=", Hex{port::read<reg::HIFAR>()}, "  HPFAR=", Hex{port::read<reg::HPFAR>()},
          "\nVTTBR=", Hex{port::read<reg::VTTBR>(), 12}, "  HCR=", Hex{port::read<reg::HCR>()},
          "  HDCR=", Hex{port::read<reg::HDCR>()}, "\n");
}

void print_recent_records(TextSink& out, Cpu& cpu) {
    constexpr unsigned how_many = 8;
    cpu.ring.release(cpu.fast.sequence); // what the fast path has published, if it is what failed
    for (unsigned age = 0; age < how_many; ++age) {
        const abi::Record* r = cpu.ring.recent(age);
        if (r == nullptr) return;
        print(out, "record -", std::uint32_t{age}, ": type ", static_cast<std::uint32_t>(r->type),
              abi::is_write(*r) ? " W" : " R", std::uint32_t{abi::access_size(*r)},
              " pa=", Hex{abi::physical_address(*r)}, " value=", Hex{r->value}, " pc=", Hex{r->pc},
              "\n");
    }
}

/// What the report is about.
struct Teller {
    const char* what;
    const HypFrame* frame{};       ///< of an exception; null for a failed check
    std::uintptr_t check_failed{}; ///< return address of the check
    Cpu* cpu;
    Machine* machine{}; ///< null before there is a machine
};

void tell(const Teller& t, Console& uart) {
    print(uart, "\n", abi::stop_line, t.what, " on CPU ",
          t.machine != nullptr ? t.cpu->number : port::cpu_number(), "\n");
    port::set_report_stage(port::ReportStage::stop_line_out);
    if (t.frame != nullptr) print_core_registers(uart, *t.frame);
    else print(uart, "checked before pc=", Hex{t.check_failed}, "\n");
    print_system_registers(uart);
    if (t.machine != nullptr) {
        print_recent_records(uart, *t.cpu);
        for (Service* service : t.machine->services) service->report(*t.machine, uart);
    }
}

void end_report(Console& uart) {
    print(uart, abi::end_of_report, "\n");
}

/// Whether a store to `object` does not fault, by Hyp's own table. PAR is the guest's, which will
/// not run again.
bool is_writable(const void* object) {
    constexpr std::uint64_t failed = 1;
    port::write<reg::ATS1HW>(static_cast<std::uint32_t>(port::address_of(object).value));
    port::synchronize_context();
    return (port::read<reg::PAR>() & failed) == 0;
}

/// Before anything is printed: the UART may take long, or nobody listens to it. What is damaged may
/// be the table, or where the area is; then readers have the report alone.
void mark_area(const Machine& machine) {
    if (machine.area == nullptr || !is_writable(machine.area)) return;
    port::store_shared(machine.area->state, abi::AreaState::panicked);
}

/// Stops the other CPUs and marks the area. Only called if there is a machine: before that, CPU 0
/// is alone.
void stop_machine(Machine& machine) {
    stop_other_cpus(machine);
    mark_area(machine);
    port::complete_system(); // the invalidation, and the mark
    port::synchronize_context();
}

/// Before there is a machine the MMU may be off, and LDREX need not work. So this uses Fischer's
/// protocol: each CPU writes its name, and after waiting for longer than a store takes, the last
/// one still finds its own.
bool first_without_machine() {
    static volatile std::uint32_t reporter = 0;
    constexpr unsigned wait = 100'000;
    const std::uint32_t name = port::cpu_number() + 1;
    if (reporter != 0) return false;
    reporter = name;
    port::complete_all(); // for others to find
    for (unsigned n = 0; n < wait; ++n)
        if (reporter != name) return false;
    return true;
}

/// True once per machine; a CPU that comes second only halts.
bool first_to_report(Machine* machine) {
    if (machine == nullptr) return first_without_machine();
    return machine->stopped.fetch_add(1, std::memory_order_acq_rel) == 0;
}

[[noreturn]] void report(Teller t) {
    port::begin_report();
    t.machine = t.cpu != nullptr ? t.cpu->machine : nullptr;
    if (!first_to_report(t.machine)) port::halt();
    if (t.machine != nullptr) stop_machine(*t.machine);
    OwnBus bus; // not attached: the ring stays as it was
    const Board& board = board_of_machine();
    Console uart(board.uart, bus);
    if (board.uart_is_guests) uart.start(); // whatever the guest has set up there
    tell(t, uart);
    if (t.machine != nullptr) end_services(*t.cpu, MachineEnd::panicked);
    end_report(uart);
    port::halt();
}

Cpu* this_cpu() {
    return static_cast<Cpu*>(port::this_cpu());
}

/// Each stack has an unmapped page below it (start/tables.hpp).
bool in_guard_page(const Cpu* cpu, std::uint32_t address) {
    if (cpu == nullptr || cpu->machine == nullptr) return false;
    const Range& stacks = cpu->machine->image.stacks;
    return stacks.contains(address) && (address - stacks.begin) % stack_size < page_size;
}

const char* name_of(const Cpu* cpu, const HypFrame& frame) {
    constexpr const char* vectors[] = {"reset",      "undefined instruction",
                                       "HVC",        "prefetch abort",
                                       "data abort", "guest trap",
                                       "IRQ",        "FIQ"};
    constexpr unsigned supervisor = 2;
    constexpr unsigned data_abort = 4;
    const unsigned vector = frame.vector & 7;
    const arch::Hsr hsr{port::read<reg::HSR>()};
    if (vector == supervisor && hsr.ec() == arch::ExceptionClass::svc_hyp) return "SVC";
    if (vector == data_abort && in_guard_page(cpu, port::read<reg::HDFAR>()))
        return "stack overflow";
    return vectors[vector];
}

} // namespace

void panic(const char* what) {
    constexpr std::uintptr_t thumb = 1; // in a return address
    report({.what = what,
            .check_failed = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) & ~thumb,
            .cpu = this_cpu()});
}

void hyp_fault(Cpu* cpu, const HypFrame& frame) {
    report({.what = name_of(cpu, frame), .frame = &frame, .cpu = cpu});
}

// A fault before the report has begun: this CPU may not be the first, and the others still run.
// From then until the stop line is out, the machine itself may cause the fault, so it is not used.
void report_fault(std::uint32_t pc) {
    const port::ReportStage stage = port::report_stage();
    const bool line_out = stage == port::ReportStage::stop_line_out;
    if (stage == port::ReportStage::none) {
        Machine* machine = this_cpu() != nullptr ? this_cpu()->machine : nullptr;
        if (!first_to_report(machine)) port::halt();
        if (machine != nullptr) stop_machine(*machine);
    }
    OwnBus bus;
    const Board& board = board_of_machine();
    Console uart(board.uart, bus);
    if (board.uart_is_guests && !line_out) uart.start();
    print(uart, "\n", line_out ? "mmioscope: " : abi::stop_line,
          "a fault in the report, pc=", Hex{pc}, "\n");
    print_system_registers(uart);
    end_report(uart);
    port::halt();
}

} // namespace mmioscope

void mmioscope_hyp_fault(mmioscope::Cpu* cpu, const mmioscope::HypFrame& frame) {
    mmioscope::hyp_fault(cpu, frame);
}

void mmioscope_report_fault(std::uint32_t pc) {
    mmioscope::report_fault(pc);
}
