#include "engine/debug_unit.hpp"

#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "guest/registers.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

#include <utility>

namespace mmioscope {

namespace {

// Pairs are written one register after the other: no instruction of the guest runs in between, and
// they do not match in Hyp (HMC is 0).

/// The registers' numbers are part of their encodings: loops over them are unrolled here.
template <class Apply, unsigned... N>
void for_each(std::integer_sequence<unsigned, N...>, Apply&& apply) {
    (apply(std::integral_constant<unsigned, N>{}), ...);
}
template <unsigned Count, class Apply>
void for_each(Apply&& apply) {
    for_each(std::make_integer_sequence<unsigned, Count>{}, apply);
}

struct Counts {
    unsigned breakpoints;
    unsigned watchpoints;
};
Counts counts() {
    const std::uint32_t didr = port::read<reg::DBGDIDR>();
    return {arch::breakpoint_count(didr), arch::watchpoint_count(didr)};
}

/// Whether an enabled watchpoint fires without the hypervisor too. It then stays on: it ends the
/// step before the access, and the guest is told (ARM ARM C3.3).
bool fires_anyway(std::uint32_t control, const BorrowedDebug& borrowed) {
    return (borrowed.dscr & arch::dscr_mdbgen) != 0 && !borrowed.os_locked &&
           borrowed.os_double_lock == 0 && (control & arch::watches_hyp) == 0;
}

/// What the guest has set up itself must not fire because of the step: breakpoints, which have had
/// their turn before the instruction trapped, and what is off as long as the monitor debug-mode is.
/// They are rarely in use, so they are written only where one is on.
void silence_others(BorrowedDebug& borrowed, Counts there) {
    for_each<max_breakpoints>([&](auto n) {
        if (n < step_breakpoints || n >= there.breakpoints) return;
        borrowed.breakpoint[n] = port::read<reg::DBGBCR<n>>();
        if ((borrowed.breakpoint[n] & arch::debug_enable) != 0) port::write<reg::DBGBCR<n>>(0);
    });
    for_each<max_watchpoints>([&](auto n) {
        if (n >= there.watchpoints) return;
        borrowed.watchpoint[n] = port::read<reg::DBGWCR<n>>();
        const std::uint32_t control = borrowed.watchpoint[n];
        if ((control & arch::debug_enable) != 0 && !fires_anyway(control, borrowed))
            port::write<reg::DBGWCR<n>>(0);
    });
}

void restore_others(const BorrowedDebug& borrowed, Counts there) {
    for_each<max_breakpoints>([&](auto n) {
        if (n >= step_breakpoints && n < there.breakpoints &&
            (borrowed.breakpoint[n] & arch::debug_enable) != 0)
            port::write<reg::DBGBCR<n>>(borrowed.breakpoint[n]);
    });
    for_each<max_watchpoints>([&](auto n) {
        if (n < there.watchpoints && (borrowed.watchpoint[n] & arch::debug_enable) != 0)
            port::write<reg::DBGWCR<n>>(borrowed.watchpoint[n]);
    });
}

/// With an OS lock set no breakpoint fires (ARM ARM C6.2): the guest would run on with its shadow.
void open_os_locks(BorrowedDebug& borrowed) {
    borrowed.os_double_lock = port::read<reg::DBGOSDLR>();
    borrowed.os_locked = (port::read<reg::DBGOSLSR>() & arch::oslsr_locked) != 0;
    if (borrowed.os_double_lock != 0) port::write<reg::DBGOSDLR>(0);
    if (borrowed.os_locked) port::write<reg::DBGOSLAR>(0);
    if (borrowed.os_double_lock != 0 || borrowed.os_locked) port::synchronize_context();
}

void close_os_locks(const BorrowedDebug& borrowed) {
    if (borrowed.os_locked) port::write<reg::DBGOSLAR>(arch::os_lock_key);
    if (borrowed.os_double_lock != 0) port::write<reg::DBGOSDLR>(borrowed.os_double_lock);
}

} // namespace

bool start_debug_unit() {
    const bool os_locked = (port::read<reg::DBGOSLSR>() & arch::oslsr_locked) != 0;
    port::write<reg::DBGOSLAR>(0);
    port::synchronize_context();
    const Counts there = counts();
    if (there.breakpoints < step_breakpoints) return false;
    for_each<max_breakpoints>([&](auto n) {
        if (n < there.breakpoints) port::write<reg::DBGBCR<n>>(0);
    });
    for_each<max_watchpoints>([&](auto n) {
        if (n < there.watchpoints) port::write<reg::DBGWCR<n>>(0);
    });

    // With DBGEN low the bit does not stick, and breakpoints never fire: the guest would run on
    // with its shadow table, and the trace would miss everything in silence.
    const std::uint32_t dscr = port::read<reg::DBGDSCR>();
    port::write<reg::DBGDSCR>(dscr | arch::dscr_mdbgen);
    const std::uint32_t now = port::read<reg::DBGDSCR>(); // as written, without an ISB (B3.15.5)
    port::write<reg::DBGDSCR>(dscr);
    if (os_locked) port::write<reg::DBGOSLAR>(arch::os_lock_key); // as the guest finds it natively
    return (now & arch::dscr_mdbgen) != 0 && (now & arch::dscr_hdbgen) == 0;
}

bool guest_watches() {
    if ((port::read<reg::DBGDSCR>() & arch::dscr_mdbgen) == 0) return false;
    const Counts there = counts();
    std::uint32_t controls = 0;
    for_each<max_watchpoints>([&](auto n) {
        if (n < there.watchpoints) controls |= port::read<reg::DBGWCR<n>>();
    });
    return (controls & arch::debug_enable) != 0;
}

void arm_breakpoints(BorrowedDebug& borrowed, std::uint32_t next_pc, bool thumb) {
    open_os_locks(borrowed);
    borrowed.dscr = port::read<reg::DBGDSCR>();
    silence_others(borrowed, counts());

    const bool vectors_thumb = (port::read<reg::SCTLR>() & arch::sctlr_te) != 0;
    const std::uint32_t vectors = guest_vectors();
    const std::uint32_t address[step_breakpoints] = {next_pc, vectors + 0x04, vectors + 0x0c,
                                                     vectors + 0x10};
    for_each<step_breakpoints>([&](auto n) {
        borrowed.value[n] = port::read<reg::DBGBVR<n>>();
        borrowed.breakpoint[n] = port::read<reg::DBGBCR<n>>();
        port::write<reg::DBGBVR<n>>(arch::address_value(address[n]));
        port::write<reg::DBGBCR<n>>(
            arch::address_match(address[n], n == 0 ? thumb : vectors_thumb));
    });
    // With halting debug-mode on, which a guest can set behind its OS lock, the breakpoint would
    // stop the CPU instead.
    port::write<reg::DBGDSCR>((borrowed.dscr & ~arch::dscr_hdbgen) | arch::dscr_mdbgen);
    port::write<reg::HDCR>(port::read<reg::HDCR>() | arch::hdcr_step);
    // The ERET synchronises all this.
}

void disarm_breakpoints(const BorrowedDebug& borrowed) {
    port::write<reg::HDCR>(port::read<reg::HDCR>() & ~arch::hdcr_step);
    port::write<reg::DBGDSCR>(borrowed.dscr);
    for_each<step_breakpoints>([&](auto n) {
        port::write<reg::DBGBVR<n>>(borrowed.value[n]);
        port::write<reg::DBGBCR<n>>(borrowed.breakpoint[n]);
    });
    restore_others(borrowed, counts());
    close_os_locks(borrowed);
}

} // namespace mmioscope
