#include "trap/dispatch.hpp"

#include "base/check.hpp"
#include "control/line.hpp"
#include "engine/engine.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"
#include "trap/abort.hpp"
#include "trap/call.hpp"
#include "trap/control_register.hpp"
#include "trap/fast_path.hpp"

namespace mmioscope {

namespace {

/// This CPU misses other CPUs' TLB maintenance meanwhile, so it begins with an empty TLB. It
/// returns here only if it was not powered down.
void sleep_outside_coherency(Cpu& cpu) {
    port::wait_outside_coherency();
    cpu.view.start();
}

void sleep(Cpu& cpu) {
    if (cpu.leaves_coherency) sleep_outside_coherency(cpu);
    else port::wait_for_interrupt();
}

/// WFI traps for the stream, or because the guest cleared ACTLR.SMP. WFI may end at any time (ARM
/// ARM B1.8.14), so pending work is done first, and the guest executes WFI again.
Outcome wait_for_interrupt(Cpu& cpu) {
    serve_line(cpu);
    if (cpu.machine->stream.work_at_idle(cpu.number)) {
        check_integrity_at_idle(*cpu.machine);
        sleep(cpu);
    }
    return Outcome::done;
}

/// Whether the instruction that trapped, and is skipped, has 4 bytes. IL is valid if ISV is, and
/// for WFI; any other is MCR, HVC or SMC.
bool is_wide(arch::Hsr hsr) {
    return hsr.il() || (hsr.ec() != arch::ExceptionClass::wfi && !hsr.isv());
}

Outcome handle(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    switch (hsr.ec()) {
    case arch::ExceptionClass::data_abort: return data_abort(cpu, frame, hsr);
    case arch::ExceptionClass::prefetch_abort: return prefetch_abort(cpu, frame, hsr);
    case arch::ExceptionClass::wfi: return wait_for_interrupt(cpu);
    case arch::ExceptionClass::cp15_32: return control_register(cpu, frame, hsr);
    case arch::ExceptionClass::hvc:
    case arch::ExceptionClass::smc: return guest_call(cpu, frame, hsr);
    case arch::ExceptionClass::cp14_32:
    case arch::ExceptionClass::cp14_64:
    case arch::ExceptionClass::cp14_ldc:
        check(cpu.debug.is_hyps(), "unexpected trap of a debug register");
        cpu.debug.give_back();
        return Outcome::again;
    default: panic("unexpected exception class");
    }
}

} // namespace

// Requests and records both need a lock. It is not taken in a step, which holds its region's lock,
// nor after a load-exclusive, whose monitor it would clear. Requests are looked for less often than
// records, because nobody waits for them as much.
void serve_stream(Cpu& cpu) {
    if (cpu.step.armed || !cpu.own_exclusives.allowed()) return;
    if (line_is_due(cpu)) {
        cpu.traps_without_look = 0;
        serve_line(cpu);
    } else {
        ++cpu.traps_without_look;
    }
    cpu.machine->stream.work_a_little(cpu.number);
}

bool line_is_due(const Cpu& cpu) {
    constexpr std::uint8_t traps_for_a_look = 2;
    return cpu.traps_without_look + 1 >= traps_for_a_look;
}

void check_way_back(const Cpu& cpu) {
    check(cpu.view.consistent(), "unexpected value of VTTBR");
    cpu.machine->engine->check_way_back(cpu);
}

} // namespace mmioscope

void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame) {
    using namespace mmioscope;
    const arch::Hsr hsr{port::read<reg::HSR>()};
    if (cpu.machine->stopped.load(std::memory_order_relaxed) != 0) port::halt();
    close_fast_path(cpu);
    ++cpu.ring.statistics().traps;
    if (!(cpu.step.armed && cpu.machine->engine->finish(cpu, frame, hsr)))
        if (handle(cpu, frame, hsr) == Outcome::done) skip_instruction(frame, is_wide(hsr));
    if (cpu.serves_stream && !cpu.stream_served) serve_stream(cpu);
    cpu.stream_served = false;
    check_way_back(cpu);
    follow_form(cpu, frame);
    open_fast_path(cpu);
}
