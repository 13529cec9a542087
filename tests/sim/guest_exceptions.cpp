// Exceptions: those that the guest takes itself, and those that go to Hyp (ARM ARM B1.8, B3.13).
#include "guest_cpu.hpp"

#include "arch/control.hpp"
#include "hyp_code.hpp"

namespace mmioscope::sim {

using arch::Mode;
using port::Banked;

void GuestCpu::take(Mode mode, std::uint32_t vector, std::uint32_t link, bool masks_abort) {
    struct Bank {
        Mode mode;
        Banked link;
        Banked spsr;
    };
    constexpr Bank banks[] = {{Mode::svc, Banked::lr_svc, Banked::spsr_svc},
                              {Mode::und, Banked::lr_und, Banked::spsr_und},
                              {Mode::abt, Banked::lr_abt, Banked::spsr_abt},
                              {Mode::irq, Banked::lr_irq, Banked::spsr_irq},
                              {Mode::fiq, Banked::lr_fiq, Banked::spsr_fiq}};
    for (const Bank& bank : banks) {
        if (bank.mode != mode) continue;
        core_.bank(bank.link) = link;
        core_.bank(bank.spsr) = core_.frame.psr;
    }
    constexpr std::uint32_t kept = 0xf80f'01c0; // flags, GE, A, I, F: no IT, ARM state
    core_.frame.psr = (core_.frame.psr & kept) | static_cast<std::uint32_t>(mode) | arch::psr_i |
                      (masks_abort ? arch::psr_a : 0) | (mode == Mode::fiq ? arch::psr_f : 0);
    core_.frame.pc = core_.system.get<reg::VBAR>() + vector;
    if (sim_.conditions.exceptions_clear_monitor) core_.monitor = false;
}

void GuestCpu::undefined() {
    take(Mode::und, 0x04, core_.frame.pc + (core_.thumb() ? 2 : 4), false);
}

void GuestCpu::native_data_abort(std::uint32_t va, std::uint32_t status, bool write) {
    core_.system.set<reg::DFSR>(status | (write ? 1u << 11 : 0));
    core_.system.set<reg::DFAR>(va);
    take(Mode::abt, 0x10, core_.frame.pc + 8, true);
}

void GuestCpu::native_prefetch_abort(std::uint32_t va, std::uint32_t status) {
    core_.system.set<reg::IFSR>(status);
    core_.system.set<reg::IFAR>(va);
    take(Mode::abt, 0x0c, core_.frame.pc + 4, true);
}

/// An asynchronous external abort: DFAR is UNKNOWN (B3.13.3), so it is left unchanged.
void GuestCpu::asynchronous_abort() {
    core_.system.set<reg::DFSR>(0x406);
    take(Mode::abt, 0x10, core_.frame.pc + 8, true);
}

GuestCpu::Effect GuestCpu::supervisor_call() {
    take(Mode::svc, 0x08, core_.frame.pc + (core_.thumb() ? 2 : 4), false);
    return Effect::trapped;
}

/// SMC (B9.3.14): undefined at PL0; trapped before anything else is asked.
GuestCpu::Effect GuestCpu::monitor_call() {
    if (core_.mode() == Mode::usr) {
        undefined();
        return Effect::trapped;
    }
    if ((core_.system.get<reg::HCR>() & arch::hcr_tsc) == 0) throw Failure{"an SMC does not trap"};
    return trap(0x13, 0, true);
}

/// If it is not trapped, it ends at once, as it may at any time (B1.8.14).
GuestCpu::Effect GuestCpu::wait_for_interrupt() {
    if ((core_.system.get<reg::HCR>() & arch::hcr_twi) == 0) return Effect::next;
    constexpr std::uint32_t always = 1u << 24 | 14u << 20; // CV, COND: optional for Thumb
    return trap(0x01, core_.thumb() ? 0 : always, wide_);
}

GuestCpu::Effect GuestCpu::trap(unsigned exception_class, std::uint32_t iss, bool wide) {
    if (sim_.hypervisor == nullptr) throw Failure{"a trap to Hyp without a hypervisor"};
    core_.system.set<reg::HSR>((exception_class << 26) | (wide ? 1u << 25 : 0) | iss);
    sim_.synchronize(core_);
    if (sim_.conditions.exceptions_clear_monitor) core_.monitor = false;
    Frame frame = core_.frame;
    run_hyp_code(sim_, core_, state_, frame);
    if (core_.monitor && core_.monitor_address == hyp_word)
        throw Failure{"Hyp leaves the monitor to the guest as its own LDREX has set it"};
    core_.frame = frame;
    sim_.synchronize(core_); // which does not complete earlier TLB maintenance
    return Effect::trapped;
}

namespace {
/// Bits 39:12 of the address in 31:4 (B4.1.74); UNKNOWN for permission faults (B3.13.5).
std::uint32_t hpfar_of(const Route& route) {
    return route.leaf.valid() ? 0xdead'bee0 : route.ipa >> 12 << 4;
}
/// Long-descriptor fault status: translation or permission, and the level.
std::uint32_t status_of(const Route& route) {
    return (route.leaf.valid() ? 0x0c : 0x04) | route.leaf.level;
}
constexpr std::uint32_t s1ptw = 1u << 7;
} // namespace

/// A stage-1 fault is taken by the guest, the others by Hyp.
void GuestCpu::stopped_access(std::uint32_t va, const Route& route, bool write,
                              const Syndrome& syndrome, unsigned log2_size) {
    if (route.stop == Route::Stop::stage1) return native_data_abort(va, route.status, write);
    core_.system.set<reg::HDFAR>(va);
    core_.system.set<reg::HPFAR>(hpfar_of(route));
    const bool walk = route.stop == Route::Stop::walk;
    const bool valid = syndrome.valid && !walk;
    std::uint32_t iss = status_of(route) | (write ? 1u << 6 : 0) | (walk ? s1ptw : 0);
    if (syndrome.maintenance) iss |= 1u << 8;
    const bool mistaken = sim_.conditions.mistakes_thumb_stores && write &&
                          (core_.frame.psr & arch::psr_thumb) != 0; // erratum 766422
    const unsigned reg = mistaken ? syndrome.reg ^ 5 : syndrome.reg;
    if (valid) iss |= (1u << 24) | (log2_size << 22) | (syndrome.sign ? 1u << 21 : 0) | (reg << 16);
    trap(0x24, iss, wide_ || !valid); // IL is one if ISV is zero
}

/// Normal memory in stage 1, and Device memory in stage 2: the abort is Hyp's, with HPFAR UNKNOWN.
void GuestCpu::misaligned_by_stage2(std::uint32_t va, bool write) {
    constexpr std::uint32_t alignment_fault = 0x21; // table B3-23
    core_.system.set<reg::HDFAR>(va);
    core_.system.set<reg::HPFAR>(0xdead'bee0);
    trap(0x24, alignment_fault | (write ? 1u << 6 : 0), true);
}

void GuestCpu::stopped_fetch(std::uint32_t va, const Route& route) {
    if (route.stop == Route::Stop::stage1) return native_prefetch_abort(va, route.status);
    core_.system.set<reg::HIFAR>(va);
    core_.system.set<reg::HPFAR>(hpfar_of(route));
    trap(0x20, status_of(route) | (route.stop == Route::Stop::walk ? s1ptw : 0), true);
}

/// SUBS PC, LR and similar: CPSR from SPSR.
GuestCpu::Effect GuestCpu::return_from_exception(std::uint32_t address) {
    Banked spsr = Banked::spsr_svc;
    switch (core_.mode()) {
    case Mode::und: spsr = Banked::spsr_und; break;
    case Mode::abt: spsr = Banked::spsr_abt; break;
    case Mode::irq: spsr = Banked::spsr_irq; break;
    case Mode::fiq: spsr = Banked::spsr_fiq; break;
    default: break;
    }
    core_.frame.psr = core_.bank(spsr);
    core_.frame.pc = address;
    return Effect::jumped;
}

} // namespace mmioscope::sim
