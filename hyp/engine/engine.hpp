// How one access to a trapped page is carried out. Two ways, and one for comparison, one interface:
//   shadow (shadow.hpp)        the guest re-executes the instruction on its CPU's shadow table
//   emulation (emulation.hpp)  Hyp does the access itself and fills in the register
//   unprotect (unprotect.hpp)  as tracers without a table for each CPU do it: loses events
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

enum class Outcome {
    again, ///< the guest executes the instruction at PC (re-execution, or another attempt)
    done,  ///< it has been executed: go on behind it
    taken, ///< the guest takes an exception: PC is at its vector
};

class Engine {
public:
    /// Carries out `access` and records it. `again` with nothing armed means it could not be
    /// begun (its lock is held elsewhere): the guest tries again, interrupts open.
    virtual Outcome carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) = 0;

    /// Ends a step that carry_out() has armed: called at the next trap, whatever it is. True if
    /// that was the step's own breakpoint; otherwise it is still to be handled.
    virtual bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) = 0;

    /// Stops the machine unless what is open and locked is what this CPU's step, armed or not,
    /// needs. Called behind the slow path, and before a CPU's first instruction of the guest.
    virtual void check_way_back(const Cpu& cpu) const = 0;

protected:
    ~Engine() = default;
};

/// Under `stall`: the ring has no room for the records of `access`, and the guest has to try again.
[[nodiscard]] bool must_wait(Cpu& cpu, const DeviceAccess& access);

/// Takes the locks of all regions `access` reaches, and that of a trigger that may count it. False,
/// and counted as a retry, if one is held elsewhere for too long, which is told of where it comes
/// to seconds, or if what was decided at the trap holds no longer: what is traced of them, whether
/// it must wait, or that no trigger is armed.
[[nodiscard]] bool take_locks(Cpu& cpu, const Frame& frame, const DeviceAccess& access);
/// Counts the access, and its stores, under its locks: now, since it may end the machine.
void count_access(Cpu& cpu, const DeviceAccess& access);
/// Both.
[[nodiscard]] bool begin_access(Cpu& cpu, const Frame& frame, const DeviceAccess& access);

/// The access that `record` describes goes out next: marks it as in flight, and gives `record` its
/// time. In `pre` mode the begin record is in memory when this returns.
void put_in_flight(Cpu& cpu, const DeviceAccess& access, abi::Record& record);

/// The guest's own access would be an unprivileged one, which something on the board's bus tells
/// from Hyp's.
[[nodiscard]] bool must_be_unprivileged(const Cpu& cpu, const Frame& frame);

/// Hyp has carried out an access, of User mode or not.
inline void count_emulated(Cpu& cpu, bool user) {
    abi::Statistics& statistics = cpu.ring.statistics();
    ++statistics.emulated;
    if (user) ++statistics.emulated_user;
}
/// Hyp has carried out the access, or accesses of one store-exclusive, that `record` describes.
void count_emulated(Cpu& cpu, const abi::Record& record);

/// Hyp met an external abort (`hsr`) in the guest's place: the guest takes it, and `record`, still
/// to be published, says so.
Outcome hand_on_abort(Frame& frame, const DeviceAccess& access, arch::Hsr hsr, abi::Record& record);

/// A write that may end the machine is published before it is carried out: `record`, with its
/// value (or a record of each access of a listed one), is in memory, and the access no longer in
/// flight, when this returns. Otherwise it does nothing.
void publish_if_last(Cpu& cpu, const Frame& frame, const DeviceAccess& access, abi::Record& record);

} // namespace mmioscope
