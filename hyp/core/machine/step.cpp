#include "machine/stepping.hpp"

#include "guest/exception.hpp"
#include "port/banked.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

using enum arch::ExceptionClass;

/// Whether the guest was stopped behind the instruction on its page.
bool is_behind(arch::Hsr hsr) {
    return hsr.ec() == smc || (hsr.ec() == prefetch_abort && hsr.permission_fault());
}
/// Or another CPU has made the instruction store into the page of its own code. When the guest
/// tries again the access has made no progress, and is refused.
bool stopped_on_page(arch::Hsr hsr) {
    return is_behind(hsr) || (hsr.ec() == data_abort && hsr.permission_fault());
}

StepEnd how_ended(const Step& step, const Frame& frame, arch::Hsr hsr) {
    if (hsr.watchpoint()) return StepEnd::watchpoint;
    if (!hsr.debug_event()) return frame.pc == step.stop ? StepEnd::next_page : StepEnd::trap;
    const bool fetch_aborted = arch::mode_of(frame.psr) == arch::Mode::abt &&
                               frame.pc == guest_vectors() + prefetch_vector &&
                               port::read_banked(port::Banked::lr_abt) - 4 == step.stop;
    if (fetch_aborted) return StepEnd::next_page;
    // At none of the vectors: another CPU has put a BKPT in the instruction's place.
    const std::uint32_t vector = frame.pc - guest_vectors();
    const bool at_vector =
        vector == undefined_vector || vector == prefetch_vector || vector == data_vector;
    return at_vector ? StepEnd::exception : StepEnd::trap;
}

/// The guest has taken an exception, so the step's masks are in that mode's SPSR. CPSR, which has
/// those from before the step, gets what the exception's entry would have set (ARM ARM B1.8.3).
void mask_as_exception(const Step& step, Frame& frame) {
    const bool abort = arch::mode_of(frame.psr) == arch::Mode::abt;
    const auto spsr = abort ? port::Banked::spsr_abt : port::Banked::spsr_und;
    port::write_banked(spsr,
                       (port::read_banked(spsr) & ~arch::psr_aif) | (step.psr & arch::psr_aif));
    frame.psr |= arch::psr_i | (abort ? arch::psr_a : 0);
}

/// Traps that are enabled for a step (HSTR, HDCR). No load or store takes them, so the guest
/// executes something else. After the step it may execute that, or it traps again and is handled
/// then.
bool trapped_by_step(arch::Hsr hsr) {
    return hsr.ec() == cp15_32 || hsr.ec() == cp15_64 || hsr.ec() == cp14_32 ||
           hsr.ec() == cp14_64 || hsr.ec() == cp14_ldc;
}

} // namespace

void forget_instructions() {
    if ((port::read<reg::CTR>() & arch::ctr_code_by_pa) != 0) port::write<reg::BPIALL>(0);
    else port::write<reg::ICIALLU>(0); // and the predictors
    port::complete_local();            // the ERET is the synchronization
}

void enter_with_page(Cpu& cpu, const View& view) {
    cpu.step_page.put(cpu.step.code, (port::read<reg::SCTLR>() & arch::sctlr_te) != 0);
    cpu.view.enter(view);
    port::write<reg::ICIALLU>(0); // the page has another instruction than before
    port::complete_local();
}

arch::Hsr leave_page(arch::Hsr hsr) {
    forget_instructions();
    return is_behind(hsr) ? arch::Hsr::of(breakpoint) : hsr;
}

StepEnd end_otherwise(const Step& step, Frame& frame, arch::Hsr hsr) {
    const StepEnd end = how_ended(step, frame, hsr);
    if ((end == StepEnd::exception || end == StepEnd::next_page) && hsr.debug_event())
        mask_as_exception(step, frame);
    return end;
}

bool caused_trap(Cpu& cpu, Frame& frame, arch::Hsr hsr, StepEnd end) {
    if (end == StepEnd::watchpoint) inject_watchpoint(frame, {port::read<reg::HDFAR>()});
    // LDC or STC of a debug register: going back to it would make another step of it.
    if (hsr.ec() == cp14_ldc) inject_undefined(frame);
    if (!cpu.debug.usable() && stopped_on_page(hsr)) return true;
    return hsr.debug_event() || trapped_by_step(hsr);
}

} // namespace mmioscope
