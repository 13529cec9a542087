#include "machine/debug_unit.hpp"

#include "base/check.hpp"
#include "guest/registers.hpp"
#include "port/barrier.hpp"
#include "port/trial.hpp"

#include <utility>

namespace mmioscope {

namespace {

// A breakpoint's two registers are written one after the other: no instruction of the guest runs in
// between, and breakpoints do not match in Hyp (HMC is 0). The ERET synchronizes the writes.

/// A register's number is part of its encoding, so loops over registers are unrolled at compile
/// time.
template <class Apply, unsigned... N>
void for_each(std::integer_sequence<unsigned, N...>, Apply&& apply) {
    (apply(std::integral_constant<unsigned, N>{}), ...);
}
template <unsigned Count, class Apply>
void for_each(Apply&& apply) {
    for_each(std::make_integer_sequence<unsigned, Count>{}, apply);
}

struct Counts {
    unsigned breakpoints, watchpoints;
};
Counts counts() {
    const std::uint32_t didr = port::read<reg::DBGDIDR>();
    return {arch::breakpoint_count(didr), arch::watchpoint_count(didr)};
}

bool is_on(std::uint32_t control) {
    return (control & arch::debug_enable) != 0;
}

} // namespace

/// Whether breakpoints can be set.
NoSteps DebugUnit::prepare() {
    hdcr_ = port::read<reg::HDCR>();
    const bool os_locked = (port::read<reg::DBGOSLSR>() & arch::oslsr_locked) != 0;
    port::write<reg::DBGOSLAR>(0);
    port::synchronize_context();
    const Counts there = counts();
    if (there.breakpoints < step_breakpoints) return NoSteps::disabled;
    for_each<most_breakpoints>([&](auto n) {
        if (n < there.breakpoints) port::write<reg::DBGBCR<n>>(0);
    });
    for_each<most_watchpoints>([&](auto n) {
        if (n < there.watchpoints) port::write<reg::DBGWCR<n>>(0);
    });

    // If DBGEN is low, the bit cannot be set and breakpoints never fire. The guest would go on with
    // its shadow table, and the trace would silently miss everything.
    const std::uint32_t dscr = port::read<reg::DBGDSCR>();
    port::write<reg::DBGDSCR>(dscr | arch::dscr_mdbgen);
    const std::uint32_t now = port::read<reg::DBGDSCR>(); // as written, without an ISB (B3.15.5)
    port::write<reg::DBGDSCR>(dscr);
    if (os_locked) {
        port::write<reg::DBGOSLAR>(arch::os_lock_key); // as without a hypervisor
        port::synchronize_context();                   // so that take() finds it locked (B3.15.5)
    }
    const bool enabled = (now & arch::dscr_mdbgen) != 0 && (now & arch::dscr_hdbgen) == 0;
    return enabled ? NoSteps::none : NoSteps::disabled;
}

/// Whether a breakpoint stops PL1 on a trial, and what an HVC does there on another one: each ends
/// in any case, if not by that then by an SMC. With both stages off, the trial's code is where it
/// is in memory, and no table is needed.
bool DebugUnit::stops_trial() {
    const std::uint32_t hcr = port::read<reg::HCR>(), sctlr = port::read<reg::SCTLR>(),
                        vbar = port::read<reg::VBAR>();
    port::write<reg::HCR>(arch::hcr_tsc);
    port::write<reg::SCTLR>(arch::sctlr_reset);
    port::write<reg::VBAR>(port::trial_vectors());
    arm(port::trial_stop(), false);
    const port::TrialEnd end = port::run_trial();
    disarm();
    give_back();
    hvc_traps_ = port::run_trial().hsr.ec() == arch::ExceptionClass::hvc;
    port::write<reg::VBAR>(vbar);
    port::write<reg::SCTLR>(sctlr);
    port::write<reg::HCR>(hcr);
    return end.hsr.debug_event() && !end.hsr.watchpoint() && end.pc == port::trial_stop();
}

NoSteps DebugUnit::start(bool forbids) {
    *this = {};
    const NoSteps why = prepare();
    if (forbids) return NoSteps::forbidden;
    if (why != NoSteps::none) return why;
    usable_ = true; // as far as is known
    usable_ = stops_trial();
    return usable_ ? NoSteps::none : NoSteps::silent;
}

/// Whether an enabled watchpoint would fire without the hypervisor, too. It then stays on: it ends
/// the step before the access, and the guest gets the event (ARM ARM C3.3).
bool DebugUnit::fires_anyway(std::uint32_t control) const {
    return (guest_.dscr & arch::dscr_mdbgen) != 0 && !guest_.os_locked &&
           guest_.os_double_lock == 0 && (control & arch::watches_hyp) == 0;
}

/// Disables what must not fire because of the step: the guest's breakpoints, which were compared
/// before the instruction trapped, and whatever is off while the guest's monitor debug-mode is off.
void DebugUnit::silence_guest() {
    const Counts there = counts();
    for_each<most_breakpoints>([&](auto n) {
        if (n >= there.breakpoints) return;
        if constexpr (n < step_breakpoints)
            guest_.breakpoint_value[n] = port::read<reg::DBGBVR<n>>();
        guest_.breakpoint_control[n] = port::read<reg::DBGBCR<n>>();
        if (!is_on(guest_.breakpoint_control[n])) return;
        guest_uses_ = true;
        // A breakpoint that is linked to a watchpoint does not match alone.
        if constexpr (n >= step_breakpoints)
            if (!arch::is_linked(guest_.breakpoint_control[n])) port::write<reg::DBGBCR<n>>(0);
    });
    for_each<most_watchpoints>([&](auto n) {
        if (n >= there.watchpoints) return;
        const std::uint32_t control = port::read<reg::DBGWCR<n>>();
        guest_.watchpoint_control[n] = control;
        if (!is_on(control)) return;
        guest_uses_ = true;
        if ((guest_.dscr & arch::dscr_mdbgen) != 0) watched_ = true;
        if (!fires_anyway(control)) port::write<reg::DBGWCR<n>>(0);
    });
}

/// Sets the breakpoints at the vectors. They stay until the guest moves its vectors.
void DebugUnit::program_vectors(std::uint32_t control) {
    const std::uint32_t base = port::read<reg::VBAR>();
    const std::uint32_t vectors = (control & arch::sctlr_v) != 0 ? 0xffff'0000 : base;
    const bool thumb = (control & arch::sctlr_te) != 0;
    const std::uint32_t address[step_breakpoints] = {
        0, vectors + undefined_vector, vectors + prefetch_vector, vectors + data_vector};
    for_each<step_breakpoints>([&](auto n) {
        if (n == 0) return; // the breakpoint after the instruction
        port::write<reg::DBGBVR<n>>(arch::address_value(address[n]));
        port::write<reg::DBGBCR<n>>(arch::address_match(address[n], thumb));
    });
    vectors_control_ = control;
    hstr_ = arch::hstr_vbar; // from the end of the step on; until then all of CP15 traps
}

void DebugUnit::take() {
    check(usable_, "a step without breakpoints");
    // While an OS lock is set no breakpoint fires (ARM ARM C6.2): the guest would run on with its
    // shadow table.
    guest_.os_double_lock = port::read<reg::DBGOSDLR>();
    guest_.os_locked = (port::read<reg::DBGOSLSR>() & arch::oslsr_locked) != 0;
    if (guest_.os_double_lock != 0) port::write<reg::DBGOSDLR>(0);
    if (guest_.os_locked) port::write<reg::DBGOSLAR>(0);
    if (guest_.os_double_lock != 0 || guest_.os_locked) port::synchronize_context();

    set_dscr(port::read<reg::DBGDSCR>());
    guest_.vector_catch = port::read_or_zero<reg::DBGVCR>();
    guest_uses_ = guest_.os_double_lock != 0 || (guest_.dscr & arch::dscr_hdbgen) != 0 ||
                  guest_.vector_catch != 0;
    if (guest_.vector_catch != 0) port::write<reg::DBGVCR>(0);
    watched_ = false;
    silence_guest();
    // In halting debug-mode, which a guest can enable while its OS lock is set, a breakpoint would
    // stop the CPU instead. With both modes off nothing matches until a step is armed.
    port::write<reg::DBGDSCR>(dscr_between());
    hstr_ = 0;
    match_ = 0;
    match(arch::address_match(0, false));
    port::write<reg::HDCR>(hdcr_ | arch::hdcr_hyps);
    hyps_ = true;
}

void DebugUnit::restore_guest() {
    const Counts there = counts();
    for_each<most_breakpoints>([&](auto n) {
        if constexpr (n < step_breakpoints) port::write<reg::DBGBVR<n>>(guest_.breakpoint_value[n]);
        if (n < step_breakpoints || (n < there.breakpoints && is_on(guest_.breakpoint_control[n])))
            port::write<reg::DBGBCR<n>>(guest_.breakpoint_control[n]);
    });
    for_each<most_watchpoints>([&](auto n) {
        if (n < there.watchpoints && is_on(guest_.watchpoint_control[n]))
            port::write<reg::DBGWCR<n>>(guest_.watchpoint_control[n]);
    });
    if (guest_.vector_catch != 0) port::write<reg::DBGVCR>(guest_.vector_catch);
    port::write<reg::DBGDSCR>(guest_.dscr);
    if (guest_.os_locked) port::write<reg::DBGOSLAR>(arch::os_lock_key);
    if (guest_.os_double_lock != 0) port::write<reg::DBGOSDLR>(guest_.os_double_lock);
}

void DebugUnit::give_back() {
    if (!traps_guest()) return;
    if (hyps_) restore_guest();
    hyps_ = unwatched_ = false;
    hstr_ = 0;
    port::write<reg::HDCR>(hdcr_);
    port::write<reg::HSTR>(0);
}

bool DebugUnit::take_and_check() {
    take();
    if (!guest_uses_) return false;
    give_back();
    unwatched_ = !watched_;
    if (unwatched_) port::write<reg::HDCR>(hdcr_ | arch::hdcr_accesses);
    return watched_;
}

} // namespace mmioscope
