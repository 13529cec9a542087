// The guest carries out the trapped instruction itself, between two traps: what is armed for it,
// and what is recorded of it. Which table lets it through is the engine's choice.
#pragma once

#include "arch/control.hpp"
#include "arch/hsr.hpp"
#include "arch/psr.hpp"
#include "entry/frame.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

/// First half, with the locks of the access held. Once its page is open the guest may resume: it
/// executes the instruction at PC, and traps behind it or where that leads.
void begin_step(Cpu& cpu, Frame& frame, const DeviceAccess& access);

/// Second half, at any trap taken while a step is armed, with the page closed again. True if the
/// trap was of the step's own making, so that the guest goes on at PC; otherwise it is still to be
/// handled.
bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr);

// Their parts, for the fast path, too.

/// The guest executes the instruction at PC, `wide` or not, and traps behind it; its interrupts
/// wait: their handlers must not run with the page open.
inline void arm_step(Cpu& cpu, Frame& frame, bool wide) {
    Step& step = cpu.step;
    step.next_pc = frame.pc + (wide ? 4 : 2);
    cpu.debug.arm(step.next_pc, in_thumb(frame));
    // The instruction in memory may be another one by now, whose way leads past the breakpoint.
    port::write<reg::HSTR>(arch::hstr_cp15);
    step.masks = frame.psr & arch::psr_aif;
    frame.psr |= arch::psr_aif;
    step.armed = true;
    ++cpu.ring.statistics().stepped;
}
/// Returns the time at which the access was done.
inline std::uint64_t disarm_step(Cpu& cpu) {
    cpu.step.armed = false;
    const std::uint64_t now = cpu.ring.complete(); // before the lock is free
    cpu.debug.disarm();
    port::write<reg::HSTR>(0);
    return now;
}
/// As they were before the step, where the guest has taken no exception.
inline void unmask_interrupts(const Step& step, Frame& frame) {
    frame.psr = (frame.psr & ~arch::psr_aif) | step.masks;
}
/// The instruction was executed, and the guest stands behind it.
inline bool ends_as_planned(const Step& step, const Frame& frame, arch::Hsr hsr) {
    return hsr.debug_event() && !hsr.watchpoint() && frame.pc == step.next_pc &&
           arch::mode_of(frame.psr) == arch::mode_of(step.record.mode);
}

} // namespace mmioscope
