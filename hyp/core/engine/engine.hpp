// How one access to a page that traps is carried out. Three engines have this interface:
//   shadow (shadow.hpp)        the guest re-executes the instruction on its CPU's shadow table
//   emulation (emulation.hpp)  Hyp does the access itself and sets the register
//   unprotect (hyp/services/unprotect) baseline for comparison, as tracers with one table for all
//                              CPUs do it: loses events
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

enum class Outcome {
    again, ///< the guest executes the instruction at PC (a step, or another try)
    done,  ///< the instruction was executed: the guest goes on after it
    taken, ///< the guest takes an exception: PC is at its vector
};

class Engine {
public:
    /// Carries out `access` and records it. Returns `again` without an armed step if the access
    /// could not begin (a lock is held elsewhere): the guest tries again, with interrupts enabled
    /// in between.
    virtual Outcome carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) = 0;

    /// Ends a step that carry_out() armed; called at the next trap of any kind. True if the trap
    /// was caused by the step; otherwise it must still be handled.
    virtual bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) = 0;

    /// Stops the machine unless exactly those pages are open and locks held that this CPU's step,
    /// armed or not, needs. Called after the slow path, and before a CPU's first instruction of the
    /// guest.
    virtual void check_way_back(const Cpu& cpu) const = 0;

protected:
    ~Engine() = default;
};

/// Whether, under `stall`, the ring has no room for the records of `access`, so that the guest must
/// try again.
[[nodiscard]] bool must_wait(Cpu& cpu, const DeviceAccess& access);

/// Takes the locks of all regions that `access` reaches, and that of a chooser that may count it.
/// Returns false, and counts a retry, if a lock is held elsewhere for too long (reported if that
/// goes on for two seconds), or if something has changed since the trap: what is traced there,
/// whether the access must wait, or whether the chooser may count it.
[[nodiscard]] bool take_locks(Cpu& cpu, const Frame& frame, const DeviceAccess& access);
/// Counts the access and its stores, with its locks held. Done before the access, since that may
/// end the machine.
void count_access(Cpu& cpu, const DeviceAccess& access);
/// take_locks(), then count_access().
[[nodiscard]] bool begin_access(Cpu& cpu, const Frame& frame, const DeviceAccess& access);

/// Marks the access that `record` describes as in flight, since it goes out next, and sets
/// `record.time`. In `pre` mode its begin record is in memory when this returns.
void put_in_flight(Cpu& cpu, const DeviceAccess& access, abi::Record& record);

/// Whether the guest's access is unprivileged and something on the board's bus would tell it from
/// Hyp's.
[[nodiscard]] bool must_be_unprivileged(const Cpu& cpu, const Frame& frame);

/// Counts an access that Hyp has done; `user`: for User mode.
inline void count_emulated(Cpu& cpu, bool user) {
    abi::Statistics& statistics = cpu.ring.statistics();
    ++statistics.emulated;
    if (user) ++statistics.emulated_user;
}
/// Counts what `record` describes and Hyp has done: an access, or all accesses of one
/// store-exclusive.
void count_emulated(Cpu& cpu, const abi::Record& record);

/// Hyp met an external abort (`hsr`) in place of the guest: makes the guest take it, and turns
/// `record`, not yet published, into a fault record.
Outcome hand_on_abort(Frame& frame, const DeviceAccess& access, arch::Hsr hsr, abi::Record& record);

/// If `access` may end the machine: publishes `record`, which has its value (for a listed access, a
/// record of each access on the bus), and ends the in-flight mark before the access is done; all of
/// it is then in memory. Otherwise does nothing.
void publish_if_last(Cpu& cpu, const Frame& frame, const DeviceAccess& access, abi::Record& record);

} // namespace mmioscope
