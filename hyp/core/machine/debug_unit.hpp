// The debug unit of one CPU. The guest and Hyp's steps use it in turn (ARM ARM C3.2, C11; HDCR in
// B4.1.66).
//
// It has one owner. If the guest has nothing enabled in it, a step makes it Hyp's, and it stays
// Hyp's: the guest's register values are kept here, no breakpoint matches between steps, and the
// next step writes only what has changed. The guest's next access to a debug register traps; Hyp
// then restores everything, and the hardware answers. While the guest has something enabled, Hyp
// owns the unit for one step only.
//
// Meanwhile the guest's accesses to VBAR trap, too: a step's breakpoints are at the vectors. The
// first such trap ends that until the next step. SCTLR, which may also move the vectors, does not
// trap, since Linux reads it at each entry from User mode: it is compared before each step.
//
// Hyp's own accesses (emulation) need no step, only that no watchpoint of the guest's would fire at
// the access that they stand for. If Hyp has looked, and there is none, the unit stays the guest's,
// and only its next access to a debug register traps.
#pragma once

#include "arch/control.hpp"
#include "arch/debug.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

/// Breakpoints of a step: after the instruction, and at the guest's undefined, prefetch abort and
/// data abort vectors, in case it takes one of these exceptions instead.
inline constexpr unsigned step_breakpoints = 4;

/// Why breakpoints cannot stop the guest.
enum class NoSteps : std::uint8_t {
    none,      ///< they can
    forbidden, ///< the caller forbids it
    disabled,  ///< too few breakpoints, an external debugger owns them, or DBGEN is tied low
    silent,    ///< everything can be set, but the trial's breakpoint did not stop it
};

class DebugUnit {
public:
    /// Prepares the unit for the guest: disables what reset left in breakpoints and watchpoints,
    /// and leaves the OS lock as it was. Then lets PL1 run into a breakpoint, on a trial
    /// (port/trial.hpp), unless `forbids`. If no step is possible, the unit stays the guest's.
    /// Called before this CPU uses stage 2, since the trial turns it off.
    NoSteps start(bool forbids);
    bool usable() const { return usable_; }
    /// Whether the guest's HVC comes to Hyp: SCR.HCE, which Hyp cannot read. Known if usable().
    bool hvc_traps() const { return hvc_traps_; }

    /// Whether Hyp owns the unit. Outside a step that means that the guest has nothing enabled.
    bool is_hyps() const { return hyps_; }
    /// Whether the guest's accesses to debug registers trap.
    bool traps_guest() const { return hyps_ || unwatched_; }
    /// Whether it is known that no watchpoint of the guest's fires, until such an access traps.
    bool is_unwatched() const { return traps_guest() || !usable_; }
    /// Whether the guest has a watchpoint that may fire, so that the guest must make its access
    /// itself. Takes the unit to find out, and keeps it if the guest has nothing enabled.
    [[nodiscard]] bool guest_watches() { return !is_unwatched() && take_and_check(); }

    /// Stops the guest when it reaches `next_pc` (in its present instruction set) or one of its
    /// undefined, prefetch abort and data abort vectors, or when its own watchpoint fires.
    void arm(std::uint32_t next_pc, bool thumb) {
        if (!hyps_) [[unlikely]]
            take();
        const std::uint32_t control = port::read<reg::SCTLR>();
        if (!follows(control)) [[unlikely]]
            program_vectors(control);
        port::write<reg::DBGBVR<0>>(arch::address_value(next_pc));
        match(arch::address_match(next_pc, thumb));
        port::write<reg::DBGDSCR>(dscr_step());
        // The ERET synchronizes all of this.
    }
    void disarm() {
        port::write<reg::DBGDSCR>(dscr_between());
        if (guest_uses_) [[unlikely]]
            give_back();
    }
    /// HSTR except in a step.
    std::uint32_t hstr() const { return hstr_; }
    /// The guest's access to VBAR has trapped: it does not trap again before the next step.
    void leave_vbar() {
        hstr_ = 0;
        port::write<reg::HSTR>(0);
    }
    /// BKPT is a debug event, which is Hyp's while the unit is: the guest takes it, and must find
    /// it as its last one in DBGDSCR.
    void note_bkpt() { set_dscr((guest_.dscr & ~arch::dscr_method) | arch::dscr_by_bkpt); }

    // For the fast path's own steps, while Hyp owns the unit:

    /// In ARM state DBGBCR0 is set here once. In Thumb state the fast path sets it at each step, so
    /// its value is not known here.
    void ready_step(bool thumb) {
        if (thumb) match_ = 0;
        else match(arch::address_match(0, false));
    }

    /// Whether the vectors' breakpoints are at the guest's vectors, if its SCTLR is `control`.
    bool follows(std::uint32_t control) const { return hstr_ != 0 && control == vectors_control_; }
    /// DBGDSCR in a step, and at all other times while Hyp owns the unit. MOE is the guest's.
    std::uint32_t dscr_step() const { return dscr_between() | arch::dscr_mdbgen; }
    std::uint32_t dscr_between() const { return between_; }

    /// Restores the guest's registers, if Hyp owns the unit; its accesses do not trap any more.
    void give_back();

private:
    static constexpr unsigned most_breakpoints = 16, most_watchpoints = 16;
    void set_dscr(std::uint32_t guests) {
        guest_.dscr = guests;
        between_ = guests & ~(arch::dscr_hdbgen | arch::dscr_mdbgen);
    }
    void match(std::uint32_t control) {
        if (control != match_) port::write<reg::DBGBCR<0>>(control);
        match_ = control;
    }
    NoSteps prepare();
    bool stops_trial();
    void take();
    bool take_and_check();
    void silence_guest();
    void restore_guest();
    bool fires_anyway(std::uint32_t control) const;
    void program_vectors(std::uint32_t control);

    bool usable_{}, hvc_traps_{};
    bool hyps_{};
    bool unwatched_{};        ///< Hyp gave the unit back without a watchpoint on; its accesses trap
    bool guest_uses_{};       ///< the guest has something enabled
    bool watched_{};          ///< the guest has a watchpoint enabled that may fire
    std::uint32_t match_{};   ///< value of DBGBCR0, while Hyp owns the unit and knows it; else 0
    std::uint32_t between_{}; ///< of guest_.dscr: dscr_between()
    std::uint32_t hdcr_{};    ///< while the guest owns the unit
    /// Not 0: Hyp owns the unit, and the breakpoints at the vectors are set for the guest's VBAR,
    std::uint32_t hstr_{};
    std::uint32_t vectors_control_{}; ///< and for this SCTLR

    struct {
        std::uint32_t breakpoint_value[step_breakpoints];   ///< DBGBVRn
        std::uint32_t breakpoint_control[most_breakpoints]; ///< DBGBCRn
        std::uint32_t watchpoint_control[most_watchpoints]; ///< DBGWCRn
        std::uint32_t dscr;
        std::uint32_t vector_catch; ///< DBGVCR
        std::uint32_t os_double_lock;
        bool os_locked;
    } guest_{}; ///< the guest's values, while Hyp owns the unit
};

} // namespace mmioscope
