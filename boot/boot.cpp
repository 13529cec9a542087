// The first C++ code of each CPU, and the machine: everything else gets it passed.
#include "abi/layout.hpp"
#include "arch/control.hpp"
#include "start/early_uart.hpp"
#include "bringup/bringup.hpp"
#include "dev/console.hpp"
#include "dev/gic.hpp"
#include "engine/service.hpp"
#include "port/barrier.hpp"
#include "port/memory.hpp"
#include "port/shared.hpp"
#include "port/this_cpu.hpp"
#include "port/wait.hpp"
#include "start/start.hpp"
#include "trap/panic.hpp"

#include <atomic>
#include <bit>
#include <new>

// Defined by linker/hyp.ld.
extern "C" {
extern char image_text_begin[], image_text_end[];
extern char image_constants_begin[], image_constants_end[];
extern char image_data_begin[], image_data_end[];
extern char boot_stacks[], boot_stacks_end[];
extern char table_pool_begin[], table_pool_end[];
void mmioscope_find_board(std::uint32_t r2, std::uint32_t psr, std::uint32_t control);
void mmioscope_leave_secure(std::uint32_t number);
mmioscope::Frame* mmioscope_start(std::uint32_t number);
mmioscope::Frame* mmioscope_start_again(std::uint32_t number);
void mmioscope_no_hyp();
void mmioscope_boot_fault(std::uint32_t vector, std::uint32_t lr);
}

namespace mmioscope {

// The assembly and the linker script take these from hyp/hyp.mk.
static_assert(MAX_CPUS == abi::max_cpus && STACK_SIZE == stack_size);
static_assert(BOOT_TREE_OFFSET == abi::boot_tree_offset);

namespace {

constinit Machine machine;
constinit Setup setup;
constinit BootError no_board; ///< why the board is not known
/// The other CPUs wait for it with their MMU off.
constinit std::atomic<std::uint32_t> machine_ready{0};

std::uint64_t at(const char* symbol) {
    return reinterpret_cast<std::uintptr_t>(symbol);
}
Range between(const char* begin, const char* end) {
    return {at(begin), at(end)};
}

ImageLayout image_layout() {
    const std::uint64_t base = at(image_text_begin);
    return {.text = between(image_text_begin, image_text_end),
            .constants = between(image_constants_begin, image_constants_end),
            .data = between(image_data_begin, image_data_end),
            .stacks = between(boot_stacks, boot_stacks_end),
            .area = {base + abi::area_offset, base + abi::area_offset},
            .boot_tree = {base + abi::boot_tree_offset,
                          base + abi::boot_tree_offset + abi::max_tree_size}};
}

/// CPU 0 does this for all: what another CPU writes with its MMU off could be lost under a line
/// cached here.
void number_cpus() {
    for (std::uint32_t n = 0; n < abi::max_cpus; ++n) {
        machine.cpus[n].number = n;
        machine.cpus[n].machine = &machine;
    }
}

Cpu& start_cpu(std::uint32_t number) {
    Cpu& cpu = machine.cpus[number];
    port::set_this_cpu(&cpu);
    return cpu;
}

/// The other CPUs' MMUs are off, so they see memory, not this CPU's cache. The word that releases
/// them is written after everything that they need is in memory.
void release_secondaries() {
    // The pool is the end of the data; the tables after those taken are never used.
    const std::uint64_t begin = machine.image.data.begin;
    const std::uint64_t end = at(reinterpret_cast<const char*>(machine.pool.end()));
    port::flush_to_coherency({begin}, static_cast<std::size_t>(end - begin));
    machine_ready.store(1, std::memory_order_release);
    port::flush_to_coherency(port::address_of(&machine_ready), sizeof machine_ready);
}

/// Prints one line and halts, before there is a machine.
[[noreturn]] void refuse(const char* why) {
    OwnBus bus;
    Console uart(machine.board.uart, bus);
    uart.start();
    print(uart, abi::stop_line, why, "\n", abi::end_of_report, "\n");
    port::halt();
}

/// Hz; 0: the tree does not say it (Linux: arm,arch_timer.yaml).
std::uint32_t counter_frequency(const Tree& tree) {
    for (int node = 0; node < tree.count(); ++node)
        if (tree.compatible(node, {"arm,armv7-timer", "arm,cortex-a15-timer"}))
            return tree.cell(node, "clock-frequency", 0);
    return 0;
}

/// Only Secure state may write CNTFRQ (ARM ARM B8.1.1). Some boot loaders set CPU 0's alone, or
/// none.
void set_counter_frequency(std::uint32_t number) {
    if (number == 0) {
        machine.counter_frequency = port::read<reg::CNTFRQ>();
        if (machine.counter_frequency == 0)
            machine.counter_frequency = counter_frequency(setup.tree);
    }
    port::write<reg::CNTFRQ>(machine.counter_frequency);
}

void wait_for_machine() {
    while (machine_ready.load(std::memory_order_acquire) == 0) port::relax();
}

} // namespace

const Board& board_of_machine() {
    return machine.board;
}

} // namespace mmioscope

using namespace mmioscope;

void mmioscope_find_board(std::uint32_t r2, std::uint32_t psr, std::uint32_t control) {
    machine.image = image_layout();
    machine.entry = {psr, control};
    constexpr Uart early = early_uart(EARLY_UART);
    if (early.model != UartModel::none) machine.board.uart = early;
    no_board = find_board(machine, setup, r2);
    // One store, since the other CPUs wait until it is not zero.
    port::store_shared(mmioscope_clusters, std::bit_cast<std::uint32_t>(machine.clusters));
}

void mmioscope_leave_secure(std::uint32_t number) {
    if (machine.board.psci && number == 0)
        refuse("in Secure state, and nobody below to answer PSCI calls: start this board in Hyp");
    if (machine.board.psci) port::halt();
    // Until then CPU 0 has lines of this CPU's state in its caches, also dirty ones.
    if (number != 0) wait_for_machine();
    set_counter_frequency(number);
    give_gic_to_nonsecure(machine.board, machine.cpus[number].bus, number == 0);
}

Frame* mmioscope_start(std::uint32_t number) {
    if (number == 0) {
        machine.services = linked_services();
        number_cpus();
        machine.pool =
            TablePool(reinterpret_cast<lpae::Descriptor*>(table_pool_begin),
                      static_cast<unsigned>((table_pool_end - table_pool_begin) / page_size));
        Cpu& cpu = start_cpu(0);
        cpu.fast.frame = start_machine(machine, setup, cpu, no_board);
        release_secondaries();
        return &cpu.fast.frame;
    } else {
        wait_for_machine();
        if (number >= machine.cpu_count)
            for (;;) port::wait_for_interrupt();
        Cpu& cpu = start_cpu(number);
        // This CPU's writes so far are only in memory; CPU 0 may have read their lines ahead.
        port::flush_to_coherency(port::address_of(&cpu), sizeof cpu);
        cpu.fast.frame = start_parked(machine, cpu);
        return &cpu.fast.frame;
    }
}

// The guest's CPU_ON, on another CPU, has checked that `number` is one of the machine's CPUs.
Frame* mmioscope_start_again(std::uint32_t number) {
    Cpu& cpu = start_cpu(number);
    cpu.fast.frame = start_by_firmware(machine, cpu);
    return &cpu.fast.frame;
}

void mmioscope_no_hyp() {
    const std::uint32_t features = port::read<reg::ID_PFR1>();
    if ((features & arch::pfr1_virtualization) == 0)
        refuse("this CPU has no Virtualization Extensions, or the emulator hides them "
               "(QEMU: -M ...,virtualization=on): without Hyp mode nothing can be traced");
    if ((features & arch::pfr1_security) == 0)
        refuse(
            "in Supervisor mode without the Security Extensions, from where no way leads to Hyp: "
            "enter in Hyp mode");
    refuse(
        "in Non-secure Supervisor mode, from where no way leads to Hyp: build U-Boot with "
        "ARMV7_NONSEC and ARMV7_VIRT, and boot with bootm_boot_mode=nonsec, or have TF-A enter its "
        "BL33 in MODE32_hyp instead of MODE32_svc");
}

// Only start.S calls it, in the mode of the exception. Later exceptions are Hyp's (trap/panic.hpp).
void mmioscope_boot_fault(std::uint32_t vector, std::uint32_t lr) {
    constexpr unsigned undefined = 1, prefetch = 3, data = 4; // table B1-3
    const char* what = vector == data        ? "data abort"
                       : vector == prefetch  ? "prefetch abort"
                       : vector == undefined ? "undefined instruction"
                                             : "unexpected exception";
    const bool looking = setup.tree.blob() == nullptr;
    OwnBus bus;
    Console uart(machine.board.uart, bus);
    uart.start();
    print(uart, abi::stop_line, what, " before Hyp mode, pc=", Hex{lr - (vector == data ? 8 : 4)},
          "  DFSR=", Hex{port::read<reg::DFSR>()}, "  DFAR=", Hex{port::read<reg::DFAR>()},
          looking ? ": no device tree was found until then; is r2 its address?\n" : "\n",
          abi::end_of_report, "\n");
    port::halt();
}
