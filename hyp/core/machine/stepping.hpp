// A step: the guest executes one instruction in a view, or goes on to one that it reaches without a
// branch, and comes back, whatever happens. What it accesses meanwhile, and under which locks, is
// the caller's. Inline where each slow access of the shadow engine comes by.
#pragma once

#include "arch/control.hpp"
#include "arch/hsr.hpp"
#include "arch/psr.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// The same virtual addresses lead to other instructions now. Branch predictors know them by these
/// (ARM ARM B2.2.9), and so may caches, but not those of Cortex-A7 and A15 (B3.11.2).
void forget_instructions();

// Where there are no breakpoints, the instruction lies on a page of its own (mm/step_page.hpp).
void enter_with_page(Cpu& cpu, const View& view);
/// What stopped the guest behind the instruction is to a step what a breakpoint is.
arch::Hsr leave_page(arch::Hsr hsr);

/// The end that was not planned.
StepEnd end_otherwise(const Step& step, Frame& frame, arch::Hsr hsr);

/// Begins one: the guest goes on in `view`, until it comes to `stop`, to the vector of an exception
/// of its own, or to Hyp. Its interrupts are masked, because their handlers must not run there.
/// Another CPU may have replaced the instruction by one that leads past `stop`: then its use of
/// CP15 ends the step.
[[gnu::always_inline]] inline void step_in(Cpu& cpu, Frame& frame, const View& view,
                                           std::uint32_t stop) {
    const std::uint32_t psr = frame.psr;
    cpu.step.stop = stop;
    cpu.step.psr = psr;
    cpu.step.armed = true;
    frame.psr = psr | arch::psr_aif;
    port::write<reg::HSTR>(arch::hstr_cp15);
    if (!cpu.debug.usable()) [[unlikely]]
        return enter_with_page(cpu, view);
    cpu.debug.arm(stop, (psr & arch::psr_thumb) != 0);
    cpu.view.enter(view);
}

/// At any trap while a step is armed: the guest is in its normal view again, and has its masks
/// back.
[[gnu::always_inline]] inline StepEnd leave_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    cpu.view.enter(*cpu.normal); // first of all: nothing below may run in another view
    cpu.step.done = cpu.ring.complete();
    if (cpu.debug.usable()) [[likely]]
        cpu.debug.disarm();
    else hsr = leave_page(hsr);
    cpu.step.armed = false;
    port::write<reg::HSTR>(cpu.debug.hstr());
    frame.psr = (frame.psr & ~arch::psr_aif) | (cpu.step.psr & arch::psr_aif);
    const bool same_mode = arch::mode_of(frame.psr) == arch::mode_of(cpu.step.psr);
    if (hsr.breakpoint() && frame.pc == cpu.step.stop && same_mode) [[likely]]
        return StepEnd::planned;
    return end_otherwise(cpu.step, frame, hsr);
}

/// Behind leave_step(): true if the step caused the trap, so the guest goes on at PC; otherwise the
/// trap must still be handled.
bool caused_trap(Cpu& cpu, Frame& frame, arch::Hsr hsr, StepEnd end);

} // namespace mmioscope
