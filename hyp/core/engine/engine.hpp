// What becomes of a trap of the guest's memory. How an access is made there is up to an engine. The
// core has two (emulation.hpp), and a service may have another one:
//   shadow     the guest re-executes the instruction in its CPU's shadow view, between two traps:
//              whatever the instruction is, the device sees exactly that
//   emulation  Hyp does the access itself and sets the register
//   unprotect  (hyp/services/unprotect) baseline for comparison, as tracers with one table for all
//              CPUs do it: loses events
#pragma once

#include "abi/record.hpp"
#include "arch/hsr.hpp"
#include "arch/psr.hpp"
#include "entry/frame.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"

#include <optional>

namespace mmioscope {

enum class Outcome : std::uint8_t {
    again, ///< the guest executes the instruction at PC (a step, or another try)
    done,  ///< the instruction was executed: the guest goes on after it
    taken, ///< the guest takes an exception: PC is at its vector
};

/// What becomes of the traps of an owner's pages (trace/region_lock.hpp). One object serves any
/// number of owners.
class OwnerOps {
public:
    /// cpu.trapped.access, which is not decoded, because of `why`, unless that is none.
    virtual Outcome access(Cpu& cpu, Frame& frame, abi::FaultReason why) = 0;
    /// The guest has fetched from `pa`, or, if `by_walk`, by a page table there.
    virtual Outcome fetch(Cpu& cpu, Frame& frame, VirtualAddress va, PhysicalAddress pa,
                          bool by_walk);
    /// Cache maintenance at cpu.trapped.access, which reaches no device (ARM ARM B2.2.6).
    virtual Outcome maintain(Cpu& cpu, Frame& frame, arch::Hsr hsr);
    /// cpu.trapped.access cannot be made, because of `why`.
    virtual Outcome refused(Cpu& cpu, Frame& frame, abi::FaultReason why);

protected:
    ~OwnerOps() = default;
};

/// Who answers the guest's HVC with an immediate, or its SMC.
class CallOps {
public:
    /// PC is at the instruction; `done`: it was executed.
    virtual Outcome call(Cpu& cpu, Frame& frame) = 0;

protected:
    ~CallOps() = default;
};

/// Devices, and memory that is traced like one: makes each access under its region's lock.
class DeviceOps : public OwnerOps {
public:
    constexpr explicit DeviceOps(bool looks_first = false) : looks(looks_first) {}

    Outcome access(Cpu& cpu, Frame& frame, abi::FaultReason why) override;
    /// If `looks`: before cpu.trapped.access is made, with its locks held. False: it is to be tried
    /// again, because has_room_for() has found no room.
    virtual bool before(Cpu&, Frame&) { return true; }
    /// Of an engine that is neither of the core's: begins a step that makes cpu.trapped.access.
    virtual Outcome step(Cpu&, Frame&) { return Outcome::again; }
    /// Of Machine::devices: ends a step of an access; called at the next trap of any kind.
    /// True if the step caused the trap; otherwise it must still be handled.
    virtual bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr);
    /// Of Machine::devices, if `looks`: sets FastState::task and next_lookup.
    virtual void prepare_fast_path(Cpu&) {}

    const bool looks; ///< before() must see each access of another task than FastState::task
};

/// Who sees the accesses to spans (Span::hooks), with their locks held. If one instruction reaches
/// several, each is asked.
class AccessHooks {
public:
    /// Before cpu.trapped.access. Nothing: it happens. Otherwise it does not, and the locks are
    /// free: it is refused, the hooks have answered and recorded it, or it is to be tried again,
    /// because has_room_for() has found no room for records of the hooks' own.
    virtual std::optional<Outcome> before(Cpu& cpu, Frame& frame) = 0;
    /// Behind it and its records: cpu.trapped.record has its value, or is a fault.
    virtual void after(Cpu&, Frame&) {}

protected:
    ~AccessHooks() = default;
};

/// Of registers that start or stop CPUs or end the machine: board/board.hpp says which of the
/// writes.
class MachineRegisterHooks final : public AccessHooks {
public:
    std::optional<Outcome> before(Cpu& cpu, Frame& frame) override;
    void after(Cpu& cpu, Frame& frame) override;
};

/// What has no owner: no device of the guest is there.
class Nobody final : public OwnerOps {
public:
    Outcome access(Cpu& cpu, Frame& frame, abi::FaultReason why) override;
};

// They have no state.
inline constinit DeviceOps plain_devices;
inline constinit MachineRegisterHooks machine_register_hooks;
inline constinit Nobody nobody;

/// With the locks held: whether there is room for `more` records of the access, if it is recorded.
/// False, with the locks given back: under `stall` there is none.
[[nodiscard]] bool has_room_for(Cpu& cpu, std::uint64_t more);
/// The number of records that the ring must have room for. A load-exclusive also needs room for its
/// store-exclusive.
std::uint64_t room_needed(const Cpu& cpu, const DeviceAccess& access);

/// Counts the stores of `access`, for later store-exclusives of any CPU.
void count_stores(Cpu& cpu, const DeviceAccess& access);
/// Counts cpu.trapped.access and its stores, with its locks held. Done before the access, since
/// that may end the machine.
inline void count_access(Cpu& cpu) {
    const DeviceAccess& access = cpu.trapped.access;
    if (!access.recorded) ++cpu.ring.statistics().unselected;
    if (access.write) count_stores(cpu, access);
}

/// Counts an access that Hyp has done, or all accesses of one store-exclusive; `user`: for User
/// mode.
inline void count_emulated(Cpu& cpu, bool user) {
    cpu.ring.count(&abi::Statistics::emulated);
    if (user) ++cpu.ring.statistics().emulated_user;
}

/// Hyp met an external abort (`hsr`) in place of the guest: makes the guest take it, and turns
/// cpu.trapped.record, not yet published, into a fault record.
Outcome hand_on_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr);

// The end of the machine: no access may be on the bus without its record when it comes.

/// The machine is about to end by this CPU. Waits until no other CPU is in the middle of an access
/// to a device that may be traced, and lets none begin until allow_accesses(). This CPU may hold
/// locks of its access already. Bounded: after two seconds it goes on although one has not ended,
/// and the in-flight mark tells whose.
void stop_accesses(Cpu& cpu);

/// The machine has not ended: other CPUs' accesses may begin again.
void allow_accesses(Cpu& cpu);

/// An access of this CPU that may end the machine was made: waits for that, if other CPUs are held
/// up meanwhile; at most a second. Then allow_accesses().
void wait_for_end(Cpu& cpu);

/// Calls before() of the hooks of cpu.trapped.access, which has some or is listed, until one
/// returns an outcome.
std::optional<Outcome> ask_hooks(Cpu& cpu, Frame& frame);
/// Calls after() of all of them.
void tell_hooks(Cpu& cpu, Frame& frame);

/// Gives the locks of cpu.trapped.access back, which was made.
inline void give_locks_back(Cpu& cpu, Frame& frame) {
    if (cpu.trapped.access.hooked) [[unlikely]]
        tell_hooks(cpu, frame);
    cpu.locks.release();
}

/// cpu.trapped.access may end the machine: publishes cpu.trapped.record, which has its value (for a
/// listed access, a record of each access on the bus), and ends the in-flight mark before the
/// access is done; all of it is then in memory.
void publish_last(Cpu& cpu, const Frame& frame);

// The guest re-executes the instruction that trapped, in a step (machine/stepping.hpp). This begins
// and ends the record of it. The engine decides in which view that is.

/// Begins a step that makes cpu.trapped.access; DeviceOps::finish() is its second half; `view` lets
/// cpu.trapped.access through.
Outcome begin_step(Cpu& cpu, Frame& frame, const View& view);

// Who makes an access: Hyp does what HSR describes completely, a single aligned load or store
// without writeback, if the engine is emulation, or if it makes no record; the guest does all else,
// in a step. Hyp's access is privileged on the bus, also when it stands for one of User mode (PL0).
// Those are counted, or left to the guest if the board has something that tells the two apart
// (mmioscope,user-firewall).

/// Whether Hyp can do cpu.trapped.access.
[[nodiscard]] bool can_emulate(Cpu& cpu, const Frame& frame);
/// Does it, if it can; otherwise the guest does, in a step.
Outcome emulate(Cpu& cpu, Frame& frame);
/// Why a decoded access cannot be carried out, or FaultReason::none. If it is because of a later
/// word, the access gets its address.
abi::FaultReason objection(Cpu& cpu, const Frame& frame);
/// It does not happen, its locks are given back, if it has them, and the guest takes an external
/// abort. As AccessHooks::before().
Outcome refuse(Cpu& cpu, Frame& frame, abi::FaultReason why);

// Load-exclusive and store-exclusive on pages that trap (ARM ARM A3.4).
//
// The guest re-executes the load like any other, which also sets the CPU's own monitor: if Hyp
// cannot follow it to the store (trap/stretch.hpp), and the CPU asks its monitor before it
// translates the address (ExclusiveMonitorsPass(), A8.8.212), the store traps only then. From the
// load until the guest runs again, Hyp uses no exclusives itself. Hyp does the store: if it were
// re-executed, it would always fail, because taking the lock has cleared the monitor.

/// The load-exclusive of cpu.trapped was executed: sets this CPU's reservation. Its locks are held,
/// its records published, and the in-flight mark is off. Publishes one more record if the same load
/// is repeated many times (machine/repeated_load.hpp).
void reserve(Cpu& cpu, const Frame& frame);

/// Before cpu.trapped.access is carried out: ends a row of load-exclusives, if the access, which is
/// no store-exclusive, does that.
void end_repetition(Cpu& cpu, const Frame& frame);

/// cpu.trapped.access is a decoded store-exclusive, whose locks are held: stores and records if the
/// reservation allows it, and ends the reservation. The guest's status register gets the result.
/// Releases the locks.
Outcome store_exclusive(Cpu& cpu, Frame& frame);

/// Whose step it is that ends such a stretch (trap/stretch.hpp).
class StretchSteps final : public StepOps {
public:
    bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
};
inline constinit StretchSteps stretch_steps;

/// The guest goes on by itself, in its normal view, to `stop`: a step of stretch_steps is armed.
void begin_run(Cpu& cpu, Frame& frame, std::uint32_t stop);

/// The guest has executed, or tried to execute, a store-exclusive with an open monitor, after
/// store_exclusive() had asked for it.
void note_order(Cpu& cpu, bool executed, arch::Hsr hsr);

/// The value on the bus when the guest's register has `value`: reduced to the access's size, with
/// its bytes swapped if the guest runs big-endian (CPSR.E).
constexpr std::uint32_t bus_value(const Frame& frame, std::uint32_t value, unsigned log2_size) {
    if ((frame.psr & arch::psr_e) == 0) [[likely]]
        return log2_size >= 2 ? value : value & ((1u << (8u << log2_size)) - 1);
    return __builtin_bswap32(value) >> (log2_size >= 2 ? 0 : 32 - (8u << log2_size));
}

/// Publishes a record for each access of a listed instruction to a traced device, in the order of
/// the bus: cpu.trapped.record with that access's address, direction and value. A load's value is
/// what its register contains now.
void publish_beats(Cpu& cpu, const Frame& frame);

/// A `fault` record with the reason why an access reached no device.
abi::Record describe_fault(const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                           std::uint8_t access, abi::FaultReason reason);

/// Publishes a record about the guest's accesses that is not itself one. Under `stall`, which
/// promises no losses, only if the ring has room.
void publish_remark(Cpu& cpu, abi::Record& record);

} // namespace mmioscope
