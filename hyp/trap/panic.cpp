// The end: one report on the hypervisor's UART, and no CPU runs on.
#include "trap/panic.hpp"
#include "abi/layout.hpp"
#include "base/check.hpp"
#include "dev/pl011.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"
#include "port/this_cpu.hpp"
#include "port/wait.hpp"

namespace mmioscope {

namespace {

/// CPUs in the guest do not look at flags. Without a table their next fetch traps, and the trap
/// looks. Only for the CPUs that have a machine: before that, CPU 0 is alone.
void stop_other_cpus(Machine& machine) {
    machine.stopped.store(1, std::memory_order_release);
    machine.normal_table.invalidate_root();
    for (unsigned i = 0; i < machine.cpu_count; ++i) machine.shadow_tables[i].invalidate_root();
    port::publish_tables();
    port::write<reg::TLBIALLNSNHIS>(0);
    port::complete_all();
    port::synchronize_context();
}

void print_registers(TextSink& out, const HypFrame& f) {
    for (std::uint32_t i = 0; i < 13; ++i)
        print(out, i == 0 ? "" : i % 4 == 0 ? "\n" : "  ", "r", i, "=", Hex{f.r[i]});
    print(out, "\nsp=", Hex{f.sp}, "  lr=", Hex{f.lr}, "  pc=", Hex{f.pc}, "  psr=", Hex{f.psr},
          "\n");
    print(out, "HSR=", Hex{port::read<reg::HSR>()}, "  HDFAR=", Hex{port::read<reg::HDFAR>()},
          "  HIFAR=", Hex{port::read<reg::HIFAR>()}, "  HPFAR=", Hex{port::read<reg::HPFAR>()},
          "\nVTTBR=", Hex{port::read<reg::VTTBR>(), 12}, "  HCR=", Hex{port::read<reg::HCR>()},
          "  HDCR=", Hex{port::read<reg::HDCR>()}, "\n");
}

void print_recent_records(TextSink& out, const Cpu& cpu) {
    constexpr unsigned how_many = 8;
    for (unsigned age = 0; age < how_many; ++age) {
        const abi::Record* r = cpu.ring.recent(age);
        if (r == nullptr) return;
        print(out, "record -", std::uint32_t{age}, ": type ", static_cast<std::uint32_t>(r->type),
              abi::is_write(*r) ? " W" : " R", std::uint32_t{abi::access_size(*r)},
              " pa=", Hex{abi::physical_address(*r)}, " value=", Hex{r->value}, " pc=", Hex{r->pc},
              "\n");
    }
}

constexpr const char* vector_names[] = {"reset",      "undefined instruction",
                                        "SVC or HVC", "prefetch abort",
                                        "data abort", "guest trap",
                                        "IRQ",        "FIQ"};

/// Once per machine: whoever comes second only halts.
bool first_to_report(Cpu* cpu) {
    return cpu == nullptr || cpu->machine == nullptr ||
           cpu->machine->stopped.fetch_add(1, std::memory_order_acq_rel) == 0;
}

[[noreturn]] void report(Cpu* cpu, const char* what, const HypFrame* frame) {
    if (!first_to_report(cpu)) port::halt();
    OwnBus bus; // unattached: the ring stays as it was
    const bool ready = cpu != nullptr && cpu->machine != nullptr;
    Pl011 uart(ready ? cpu->machine->uart : board.uart, bus);
    if (ready) stop_other_cpus(*cpu->machine);
    if (board.uart_is_guests) uart.start(); // whatever the guest made of it
    print(uart, "\n", abi::stop_line, what, " on CPU ", ready ? cpu->number : std::uint32_t{0},
          "\n");
    if (frame != nullptr) print_registers(uart, *frame);
    if (ready) print_recent_records(uart, *cpu);
    print(uart, "mmioscope: end of report\n");
    if (ready && cpu->machine->area != nullptr)
        cpu->machine->area->state = abi::AreaState::panicked;
    port::complete_system();
    port::halt();
}

} // namespace

void panic(const char* what) {
    report(static_cast<Cpu*>(port::this_cpu()), what, nullptr);
}

void hyp_fault(Cpu* cpu, const HypFrame& frame) {
    report(cpu, vector_names[frame.vector & 7], &frame);
}

} // namespace mmioscope

void mmioscope_hyp_fault(mmioscope::Cpu* cpu, const mmioscope::HypFrame& frame) {
    mmioscope::hyp_fault(cpu, frame);
}
