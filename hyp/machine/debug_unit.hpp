// The debug unit of one CPU, which the guest and the steps of Hyp need by turns (ARM ARM C3.2, C11;
// HDCR in B4.1.66).
//
// It has one owner. As long as the guest has nothing on in it, a step makes it Hyp's, and it stays
// Hyp's: the guest's registers are kept here, no breakpoint matches between steps, and the next
// step writes only what is new. The guest's next access to a debug register traps, gives it back
// whole, and is then the hardware's to answer. While the guest has something on, it is Hyp's for
// one step.
#pragma once

#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

/// Breakpoint pairs in use while stepping: behind the instruction, and at the guest's undefined,
/// prefetch abort and data abort vectors, in case it takes one of these instead.
inline constexpr unsigned step_breakpoints = 4;

class DebugUnit {
public:
    /// Readies it, for the guest: no breakpoint is left over from reset; the OS lock stays as it
    /// was. False if it cannot be used: too few breakpoints, an external debugger owns it, or DBGEN
    /// is tied low.
    [[nodiscard]] bool start();

    /// Outside a step the guest has nothing on in it then.
    bool is_hyps() const { return hyps_; }
    /// Whether the guest has a watchpoint on, so that an access must be its own for it to fire.
    /// Takes the unit to find out, and keeps it if the guest has nothing on.
    [[nodiscard]] bool guest_watches();

    /// Stops the guest in Hyp when it reaches `next_pc` (in its current instruction set) or one of
    /// its undefined, prefetch abort and data abort vectors, or when its own watchpoint fires.
    void arm(std::uint32_t next_pc, bool thumb) {
        if (!hyps_) take();
        follow_vectors();
        port::write<reg::DBGBVR<0>>(arch::address_value(next_pc));
        match(arch::address_match(next_pc, thumb));
        dscr_ = port::read<reg::DBGDSCR>();
        port::write<reg::DBGDSCR>(dscr_ | arch::dscr_mdbgen);
        port::write<reg::HDCR>(hdcr_ | arch::hdcr_step);
        // The ERET synchronises all this.
    }
    void disarm() {
        port::write<reg::DBGDSCR>(dscr_); // and the method: the step's events are not the guest's
        port::write<reg::HDCR>(hdcr_ | arch::hdcr_traps);
        if (guest_uses_) give_back();
    }

    // What the fast path needs for a step of its own, while this is Hyp's.

    /// Of `thumb` state it sets DBGBCR0 itself, which knows then of no other.
    void ready_step(bool thumb) {
        if (thumb) match_ = 0;
        else match(arch::address_match(0, false));
    }

    bool follows(std::uint32_t control, std::uint32_t base) const {
        return (control & vectors_bits) == vectors_control_ && base == vectors_base_;
    }
    std::uint32_t hdcr_step() const { return hdcr_ | arch::hdcr_step; }
    std::uint32_t hdcr_between() const { return hdcr_ | arch::hdcr_traps; }
    /// It has armed one; DBGDSCR was `dscr`.
    void adopt_step(std::uint32_t dscr) { dscr_ = dscr; }

    /// What the guest finds is as it left it, and its accesses do not trap.
    void give_back();

private:
    static constexpr unsigned most_breakpoints = 16;
    static constexpr unsigned most_watchpoints = 16;
    static constexpr std::uint32_t vectors_bits = arch::sctlr_v | arch::sctlr_te;
    static constexpr std::uint32_t never_a_base = 1; ///< VBAR's bits 4:0 are zero (B4.1.156)

    void match(std::uint32_t control) {
        if (control != match_) port::write<reg::DBGBCR<0>>(control);
        match_ = control;
    }
    void take();
    void silence_guest();
    bool fires_anyway(std::uint32_t control) const;
    void program_vectors(std::uint32_t control, std::uint32_t base);

    /// The guest may have moved its vectors, which does not trap.
    void follow_vectors() {
        // What decides, with VBAR, where they are, and in which instruction set.
        const std::uint32_t control = port::read<reg::SCTLR>() & vectors_bits;
        const std::uint32_t base = port::read<reg::VBAR>();
        if (control != vectors_control_ || base != vectors_base_) program_vectors(control, base);
    }

    bool hyps_{};
    bool guest_uses_{};     ///< something of the guest's is on
    bool watched_{};        ///< a watchpoint is, and may fire
    std::uint32_t match_{}; ///< DBGBCR0, while it is Hyp's and known; else 0
    std::uint32_t hdcr_{};  ///< without what belongs to a step
    std::uint32_t dscr_{};  ///< while a step is armed: what it was before
    /// SCTLR.V and TE, and VBAR, by which the vectors' breakpoints are set.
    std::uint32_t vectors_control_{};
    std::uint32_t vectors_base_{};

    struct {
        std::uint32_t breakpoint_value[step_breakpoints];   ///< DBGBVRn
        std::uint32_t breakpoint_control[most_breakpoints]; ///< DBGBCRn
        std::uint32_t watchpoint_control[most_watchpoints]; ///< DBGWCRn
        std::uint32_t dscr;
        std::uint32_t vector_catch; ///< DBGVCR
        std::uint32_t os_double_lock;
        bool os_locked;
    } guest_{}; ///< the guest's, while it is Hyp's
};

} // namespace mmioscope
