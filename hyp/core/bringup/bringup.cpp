#include "bringup/bringup.hpp"

#include "arch/control.hpp"
#include "arch/errata.hpp"
#include "base/check.hpp"
#include "dev/gic.hpp"
#include "guest/reset.hpp"
#include "machine/machine.hpp"
#include "port/sysreg.hpp"
#include "trap/dispatch.hpp"
#include "trap/fast_path.hpp"

namespace mmioscope {

namespace {

/// False if an option is on that the fast path would have to test at each access.
bool fast_path_suits(const Config& config) {
    return config.engine != abi::EngineKind::unprotect && !config.slow_path && !config.pre;
}

/// Publishes the `power` record of this CPU's start; returns the frame for the guest's entry.
Frame enter_guest(Cpu& cpu, StartPoint at) {
    record_power(cpu, abi::PowerEvent::cpu_on, at.entry);
    check_way_back(cpu);
    return guest_start_frame(at.entry, at.context, 0, 0);
}

} // namespace

void prepare_cpu(Machine& machine, Cpu& cpu) {
    cpu.normal = &machine.normal(cpu.number);
    cpu.shadow = machine.breakpoints ? &machine.shadow(cpu.number) : &cpu.step_page.view();
    cpu.bus.attach(cpu.ring, machine.map);
    check(cpu.bus.forgotten() == 0, "too many early device accesses");
    reset_guest_state();
    cpu.debug.start(!machine.breakpoints); // turns stage 2 off for a moment
    check(cpu.debug.usable() || machine.config.engine == abi::EngineKind::emulation,
          "this CPU has no breakpoints, and CPU 0 has: choose engine emulation");
    port::write<reg::HCR>(guest_hcr(machine.worker != nullptr));
    cpu.leaves_coherency = false;
    cpu.view.start(*cpu.normal);
    cpu.trapped = {};
    cpu.step = {};
    cpu.stretch = {};
    cpu.reservation = {};
    cpu.mistakes_thumb_stores = arch::mistakes_thumb_stores(port::read<reg::MIDR>());
    cpu.always_slow = !fast_path_suits(machine.config);
    cpu.has_worker = machine.worker != nullptr;
    const std::uint32_t midr = port::read<reg::MIDR>(); // not every core has a REVIDR to read
    if (arch::broadcast_tlbi_fails(midr, 0) &&
        arch::broadcast_tlbi_fails(midr, port::read<reg::REVIDR>()))
        machine.broadcast_fails.store(1, std::memory_order_relaxed);
    prepare_fast_path(machine, cpu);
}

Frame start_parked(Machine& machine, Cpu& cpu) {
    enable_stage1(machine.hyp_table, stack_end(machine.image, cpu.number));
    prepare_cpu(machine, cpu);
    open_cpu_interface(machine.board, cpu.bus);
    const bool by_event = machine.board.start_mailbox() != nullptr;
    return enter_guest(cpu, {machine.power.wait_for_start(cpu.number, by_event), 0});
}

Frame start_by_firmware(Machine& machine, Cpu& cpu) {
    enable_stage1(machine.hyp_table, stack_end(machine.image, cpu.number));
    prepare_cpu(machine, cpu);
    return enter_guest(cpu, machine.power.arrive(cpu.number));
}

} // namespace mmioscope
