#include "trap/dispatch.hpp"

#include "base/check.hpp"
#include "engine/engine.hpp"
#include "guest/exception.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/sysreg.hpp"
#include "port/wait.hpp"
#include "trap/abort.hpp"
#include "trap/call.hpp"

namespace mmioscope {

namespace {

Outcome handle(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    switch (hsr.ec()) {
    case arch::ExceptionClass::data_abort: return data_abort(cpu, frame, hsr);
    case arch::ExceptionClass::prefetch_abort: return prefetch_abort(cpu, frame, hsr);
    case arch::ExceptionClass::hvc:
    case arch::ExceptionClass::smc: return guest_call(cpu, frame, hsr);
    // Trapped only while a step is armed, which a load or store to a debug register (LDC, STC)
    // would have to be: without the step it is undefined or harmless.
    case arch::ExceptionClass::cp14_32:
    case arch::ExceptionClass::cp14_ldc:
    case arch::ExceptionClass::cp14_64: inject_undefined(frame); return Outcome::taken;
    default: panic("unexpected exception class");
    }
}

void check_way_back(const Cpu& cpu) {
    check(cpu.view.consistent(), "VTTBR is not what it should be");
    cpu.machine->engine->check_way_back(cpu);
}

} // namespace

void guest_trap(Cpu& cpu, Frame& frame) {
    if (cpu.machine->stopped.load(std::memory_order_relaxed) != 0) port::halt();
    const arch::Hsr hsr{port::read<reg::HSR>()};
    ++cpu.ring.statistics().traps;
    // IL is valid only where ISV is; what is skipped without it has 32 bits: MCR, HVC, SMC.
    const bool wide = hsr.il() || !hsr.isv();
    if (!(cpu.step.armed && cpu.machine->engine->finish(cpu, frame, hsr)))
        if (handle(cpu, frame, hsr) == Outcome::done) skip_instruction(frame, wide);
    check_way_back(cpu);
}

} // namespace mmioscope

void mmioscope_guest_trap(mmioscope::Cpu& cpu, mmioscope::Frame& frame) {
    mmioscope::guest_trap(cpu, frame);
}
