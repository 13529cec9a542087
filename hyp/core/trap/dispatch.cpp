#include "trap/dispatch.hpp"

#include "arch/control.hpp"
#include "arch/psr.hpp"
#include "base/check.hpp"
#include "engine/service.hpp"
#include "guest/exception.hpp"
#include "guest/registers.hpp"
#include "guest/reset.hpp"
#include "machine/machine.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"
#include "trap/fast_path.hpp"
#include "trap/stretch.hpp"

#include <utility>

namespace mmioscope {

namespace {

/// Whether an MCR, MRC or WFI that trapped passes its condition. Whether one that does not traps is
/// IMPLEMENTATION DEFINED (ARM ARM B1.14.1); it does nothing then. In Thumb state HSR may lack the
/// condition; ITSTATE has it.
bool passes_condition(const Frame& frame, arch::Hsr hsr) {
    constexpr unsigned always = 14;
    const std::uint32_t it = arch::it_state(frame.psr);
    const unsigned condition = hsr.condition_valid() ? hsr.condition() : it != 0 ? it >> 4 : always;
    return arch::condition_passed(condition, frame.psr);
}

/// This CPU misses other CPUs' TLB maintenance meanwhile, so it begins with an empty TLB. It
/// returns here only if it was not powered down.
void sleep_outside_coherency(Cpu& cpu) {
    port::wait_outside_coherency();
    cpu.view.start(*cpu.normal);
}

void sleep(Cpu& cpu) {
    if (cpu.leaves_coherency) sleep_outside_coherency(cpu);
    else port::wait_for_interrupt();
}

/// WFI traps for a service, or because the guest cleared ACTLR.SMP. WFI may end at any time (ARM
/// ARM B1.8.14), so pending work is done first, and the guest executes WFI again.
Outcome wait_for_interrupt(Cpu& cpu, const Frame& frame, arch::Hsr hsr) {
    Machine& machine = *cpu.machine;
    if (!passes_condition(frame, hsr)) return Outcome::done;
    if (machine.worker == nullptr || machine.worker->may_sleep(cpu)) {
        verify_services(machine, Moment::idle);
        sleep(cpu);
    }
    return Outcome::done;
}

/// The hardware's SMP bit stays set: memory is shared with other CPUs until the guest sleeps.
void write_actlr(Cpu& cpu, std::uint32_t value) {
    cpu.leaves_coherency = (value & arch::actlr_smp) == 0;
    port::write<reg::ACTLR>(value | arch::actlr_smp);
    port::write<reg::HCR>(guest_hcr(cpu.has_worker || cpu.leaves_coherency));
}

std::uint32_t read_actlr(const Cpu& cpu) {
    const std::uint32_t value = port::read<reg::ACTLR>();
    return cpu.leaves_coherency ? value & ~arch::actlr_smp : value;
}

Outcome control_register(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    if (!hsr.of<reg::ACTLR>()) {
        check(cpu.debug.hstr() != 0, "unexpected trap of a CP15 access");
        cpu.debug.leave_vbar();
        return Outcome::again;
    }
    if (!passes_condition(frame, hsr)) return Outcome::done;
    if (hsr.reads_register()) set_guest_register(frame, hsr.rt(), read_actlr(cpu));
    else write_actlr(cpu, guest_register(frame, hsr.rt()));
    return Outcome::done;
}

/// Whether the instruction that trapped, and is skipped, has 4 bytes. IL is valid if ISV is, and
/// for WFI; any other is MCR, HVC or SMC.
bool is_wide(arch::Hsr hsr) {
    return hsr.il() || (hsr.ec() != arch::ExceptionClass::wfi && !hsr.isv());
}

/// Between steps no breakpoint matches, so this is the guest's own BKPT.
Outcome bkpt(Cpu& cpu, Frame& frame) {
    check(cpu.debug.is_hyps(), "unexpected debug event");
    cpu.debug.note_bkpt();
    inject_breakpoint(frame);
    return Outcome::taken;
}

[[gnu::noinline]] Outcome handle_other(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    switch (hsr.ec()) {
    case arch::ExceptionClass::prefetch_abort:
        return hsr.debug_event() ? bkpt(cpu, frame) : prefetch_abort(cpu, frame, hsr);
    case arch::ExceptionClass::wfi: return wait_for_interrupt(cpu, frame, hsr);
    case arch::ExceptionClass::cp15_32:
    case arch::ExceptionClass::cp15_64: return control_register(cpu, frame, hsr);
    case arch::ExceptionClass::hvc:
    case arch::ExceptionClass::smc: return guest_call(cpu, frame, hsr);
    case arch::ExceptionClass::cp14_32:
    case arch::ExceptionClass::cp14_64:
    case arch::ExceptionClass::cp14_ldc:
        check(cpu.debug.traps_guest(), "unexpected trap of a debug register");
        cpu.debug.give_back();
        return Outcome::again;
    default: panic("unexpected exception class");
    }
}

Outcome handle(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    if (hsr.ec() == arch::ExceptionClass::data_abort) return data_abort(cpu, frame, hsr);
    return handle_other(cpu, frame, hsr);
}

/// Ends what is armed. True if that caused the trap; otherwise it must still be handled.
bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    if (cpu.step.ops != nullptr) return cpu.step.ops->end_step(cpu, frame, hsr);
    const bool own_trap = cpu.machine->devices->finish(cpu, frame, hsr);
    if (own_trap && cpu.trapped.access.exclusive) follow_load_exclusive(cpu, frame);
    return own_trap;
}

/// check_way_back(), on the path of each trap.
[[gnu::always_inline]] inline void check_way(const Cpu& cpu) {
    check(cpu.view.consistent(), "unexpected value of VTTBR");
    if (cpu.view.is_in(*cpu.normal)) return check(!cpu.locks.held(), "lock and step disagree");
    check(cpu.step.armed, "view and step disagree");
    if (cpu.step.ops == nullptr) check(cpu.locks.held(), "lock and step disagree");
}

} // namespace

// Such work takes a lock. That is not done in a step, which holds its region's lock, nor after a
// load-exclusive, whose monitor it would clear.
void do_work(Cpu& cpu) {
    if (!cpu.step.armed && cpu.own_exclusives.allowed()) cpu.machine->worker->work(cpu);
}

void check_way_back(const Cpu& cpu) {
    check_way(cpu);
}

} // namespace mmioscope

void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame) {
    using namespace mmioscope;
    const arch::Hsr hsr{port::read<reg::HSR>()};
    cpu.ring.count(&abi::Statistics::traps);
    if (Service* const first = cpu.machine->first.load(std::memory_order_relaxed)) [[unlikely]]
        if (first->trap(cpu, frame, hsr)) return;
    if (fast_path_is_open(cpu)) close_fast_path(cpu);
    const std::uint32_t pc = frame.pc;
    if (!(cpu.step.armed && finish(cpu, frame, hsr)))
        if (handle(cpu, frame, hsr) == Outcome::done) skip_instruction(frame, is_wide(hsr));
    if (cpu.stretch.following && !cpu.step.armed) keep_following(cpu, frame, pc);
    if (cpu.has_worker && (!std::exchange(cpu.work_done, false) || cpu.stopped_others))
        do_work(cpu);
    check_way(cpu);
    if (cpu.always_slow || cpu.step.armed) return;
    follow_psr(cpu, frame);
    open_fast_path(cpu);
}
