#include "engine/page_step.hpp"

#include "arch/control.hpp"
#include "engine/reexecution.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

using enum arch::ExceptionClass;

/// The same addresses lead to other instructions now: caches may know them by virtual addresses,
/// and so do branch predictors, which this empties, too (ARM ARM B2.2.9, B3.11.2).
void forget_instructions() {
    port::write<reg::ICIALLU>(0);
    port::complete_local(); // the ERET is the synchronization
}

/// What stopped the guest here is to a step what a breakpoint is.
arch::Hsr as_breakpoint(arch::Hsr hsr) {
    const bool behind = hsr.ec() == smc || (hsr.ec() == prefetch_abort && hsr.permission_fault());
    return behind ? arch::Hsr::of(breakpoint) : hsr;
}

/// Whether another CPU has made the instruction store into the page of its own code. When the guest
/// tries again the access has made no progress, and is refused.
bool stores_there(arch::Hsr hsr) {
    return hsr.ec() == data_abort && hsr.permission_fault();
}

} // namespace

Outcome PageStepEngine::carry_out(Cpu& cpu, Frame& frame) {
    cpu.step_page.put(cpu.step.code, (port::read<reg::SCTLR>() & arch::sctlr_te) != 0);
    begin_step(cpu, frame);
    cpu.view.open_shadow();
    forget_instructions();
    return Outcome::again;
}

bool PageStepEngine::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    cpu.view.close_shadow(); // first of all: nothing below may run with the shadow open
    note_done(cpu);
    forget_instructions();
    const bool own_trap = end_step(cpu, frame, as_breakpoint(hsr)) || stores_there(hsr);
    give_locks_back(cpu);
    return own_trap;
}

} // namespace mmioscope
