#include "engine/record.hpp"

#include "arch/hsr.hpp"
#include "arch/psr.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "port/device.hpp"

namespace mmioscope {

namespace {

/// Whose is what the access reaches.
OwnerSet owners_of(const Trapped& trapped) {
    OwnerSet owners;
    owners.add(*trapped.access.span->owner);
    owners.add(*trapped.last);
    for (unsigned n = 0; trapped.access.listed && n < trapped.access.beats; ++n)
        if (trapped.beats[n].span != nullptr) owners.add(*trapped.beats[n].span->owner);
    return owners;
}

/// Whether an access that reaches several spans reaches one that is traced.
[[gnu::noinline]] bool reaches_traced(const RegionMap& map, const Trapped& trapped) {
    const DeviceAccess& access = trapped.access;
    for (unsigned n = 0; access.listed && n < access.beats; ++n)
        if (trapped.beats[n].span != nullptr && trapped.beats[n].span->traced()) return true;
    if (access.listed && !access.stage1_walk) return false;
    return access.span->traced() ||
           (access.beyond != 0 &&
            map.any_traced({access.pa.value, access.pa.value + access.beyond}));
}

/// Whether the chooser may count one of the accesses, as far as known before they are made.
[[gnu::noinline]] bool may_be_counted(const Chooser& chooser, const Trapped& trapped) {
    const DeviceAccess& access = trapped.access;
    if (!access.decoded) return chooser.may_count(0, 0);
    for (unsigned n = 0; n < access.beats; ++n) {
        const Beat beat = trapped.beat(n);
        if (chooser.may_count(beat.pa.value, 1u << beat.log2_size)) return true;
    }
    return false;
}

/// Behind the owners' locks, under which no trigger is armed: takes the chooser's, if that may
/// count the access.
[[gnu::noinline]] bool take_choice_lock(Cpu& cpu) {
    Machine& machine = *cpu.machine;
    Owner& lock = machine.locks.of(choice_lock);
    if (!may_be_counted(*machine.chooser, cpu.trapped)) return true;
    if (!cpu.locks.add(lock, cpu.number, cpu.ring.statistics().lock_spins)) return false;
    cpu.locks.next_sequence(lock); // a change of its holder is progress (LockHolder)
    return true;
}

[[gnu::noinline]] bool acquire_several(Cpu& cpu) {
    return cpu.locks.acquire(owners_of(cpu.trapped), cpu.number, cpu.ring.statistics().lock_spins);
}

/// A lock is held for one access. An emulator's host may suspend a CPU in the middle of it, but
/// seldom for longer than this.
constexpr unsigned seconds = 2;

/// The part of `access` that needs the lock of `owner`.
Beat access_of(const Trapped& trapped, const DeviceAccess& access, const Owner* owner) {
    for (const Beat& beat : std::span(trapped.beats, access.listed ? access.beats : 0u))
        if (beat.span != nullptr && beat.span->owner == owner) return beat;
    const std::uint64_t offset = owner == access.span->owner ? 0 : access.beyond - 1u;
    return {.va = access.va + static_cast<std::uint32_t>(offset),
            .pa = access.pa + offset,
            .write = access.write};
}

void publish_wait(Cpu& cpu, const Frame& frame, const DeviceAccess& access,
                  const LockHolder& holder) {
    const Owner* owner = holder.owner;
    if (owner == &cpu.machine->locks.of(choice_lock)) owner = access.span->owner;
    const Beat part = access_of(cpu.trapped, access, owner);
    abi::Record record =
        describe_fault(frame, part.va, part.pa, abi::encode_access(part.write, access.log2_size),
                       abi::FaultReason::lock_not_given_back);
    record.value = abi::fault_value(abi::FaultReason::lock_not_given_back, holder.cpu);
    record.device = static_cast<std::uint16_t>(owner->device);
    publish_remark(cpu, record);
}

/// The locks of `access` were not free in time. Once per wait, after two seconds, publishes a
/// record that names the access, the region, and the CPU that holds the lock
/// (machine/lock_wait.hpp). The counter may be read as early as the trap (ARM ARM B8.1.2), which
/// does not matter here.
[[gnu::noinline]] void report_wait(Cpu& cpu, const Frame& frame, const DeviceAccess& access) {
    const LockHolder holder = cpu.locks.refused();
    if (holder.cpu == Lock::no_owner) return cpu.lock_wait.end();
    const std::uint64_t patience = std::uint64_t{seconds} * port::read<reg::CNTFRQ>();
    if (cpu.lock_wait.overdue(holder, port::read<reg::CNTPCT>(), patience))
        publish_wait(cpu, frame, access, holder);
}

/// The guest tries again.
[[gnu::noinline]] bool give_up(Cpu& cpu) {
    if (cpu.locks.held()) cpu.locks.release();
    ++cpu.ring.statistics().retries;
    return false;
}

/// can_emulate(), on the path of an access; `user`: of User mode; `plain`: it is. RAM is in the
/// guest's caches.
[[gnu::always_inline]] inline bool can(Cpu& cpu, const Frame& frame, bool user, bool plain) {
    const DeviceAccess& a = cpu.trapped.access;
    if (!a.syndrome || (!plain && a.stage1_walk)) return false;
    const bool big_endian = (frame.psr & arch::psr_e) != 0;
    return !big_endian && a.pa.value % (1u << a.log2_size) == 0 && !a.span->stepped &&
           !cpu.debug.guest_watches() && !(user && cpu.machine->config.user_firewall);
}

/// Does the access; returns the bus's answer.
[[gnu::always_inline]] inline port::Answer access_bus(const DeviceAccess& access,
                                                      const Frame& frame) {
    if (!access.write) return port::try_device_read(access.pa, access.log2_size);
    return port::try_device_write(access.pa, access.log2_size,
                                  bus_value(frame, access.value, access.log2_size));
}

/// What LDRSB or LDRSH puts in its register when the bus answers `value`.
std::uint32_t sign_extend(std::uint32_t value, unsigned log2_size) {
    if (log2_size >= 2) return value;
    return log2_size == 0 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value))
                          : static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
}

/// Sets the guest's register and the record's value to what a load read.
[[gnu::always_inline]] inline void deliver(Trapped& trapped, Frame& frame, std::uint32_t value) {
    const DeviceAccess& access = trapped.access;
    trapped.record.value = value;
    if (access.sign_extend) [[unlikely]]
        value = sign_extend(value, access.log2_size);
    set_guest_register(frame, access.reg, value);
}

/// Does the access, which Hyp can do; `usual`: it is plain and recorded.
[[gnu::always_inline]] inline Outcome perform(Cpu& cpu, Frame& frame, bool user, bool usual) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record& record = cpu.trapped.record;
    if (usual) begin_access(cpu, frame, abi::access_emulated, true);
    else if (access.recorded || access.ends_machine) begin_access(cpu, frame, abi::access_emulated);
    else cpu.locks.next_sequence(*access.span->owner); // progress, as LockHolder::sequence tells
    const auto [value, abort] = access_bus(access, frame);
    record.duration = // before the lock is released
        static_cast<std::uint32_t>(cpu.ring.complete()) - static_cast<std::uint32_t>(record.time);
    Outcome outcome = Outcome::done;
    // It makes the guest take the abort that its own access would have met.
    if (abort != 0) outcome = hand_on_abort(cpu, frame, arch::Hsr(abort));
    else if (!access.write) deliver(cpu.trapped, frame, value);
    if (usual || (access.recorded && (record.flags & abi::flag_early) == 0))
        cpu.ring.publish(record, cpu.trapped.payload);
    cpu.ring.finish();
    if (usual) cpu.locks.release();
    else give_locks_back(cpu, frame);
    count_emulated(cpu, user);
    return outcome;
}

/// Whether Hyp makes an access that makes no record itself, which costs less: it has the same
/// privilege and memory type on the bus. Memory is the guest's to map, and may be in its cache.
[[gnu::noinline]] bool needs_no_step(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    return arch::mode_of(frame.psr) != arch::Mode::usr && !access.span->memory &&
           can_emulate(cpu, frame);
}

/// Takes the locks of all that cpu.trapped.access reaches, and that of a chooser that may count it,
/// behind those: it is switched on with all of them held. Notes whether the access is recorded.
/// Returns false, and counts a retry, if a lock is held elsewhere for too long (reported if that
/// goes on for two seconds), or if under `stall` the ring has no room. Then the guest tries again,
/// with interrupts enabled in between.
/// `plain`: DeviceAccess::plain.
[[nodiscard, gnu::always_inline]] inline bool take_locks(Cpu& cpu, const Frame& frame, bool plain) {
    DeviceAccess& access = cpu.trapped.access;
    if (cpu.machine->ending.load(std::memory_order_relaxed) != 0) return give_up(cpu);
    const bool several = !plain && access.beyond != 0;
    const bool held = several ? acquire_several(cpu)
                              : cpu.locks.acquire(*access.span->owner, cpu.number,
                                                  cpu.ring.statistics().lock_spins);
    if (!held || (chooses(cpu.machine->chooser) && !take_choice_lock(cpu))) {
        report_wait(cpu, frame, access);
        return give_up(cpu);
    }
    cpu.lock_wait.end(cpu.locks);
    // What is traced cannot change under the locks.
    access.recorded =
        several ? reaches_traced(cpu.machine->map, cpu.trapped) : access.span->traced();
    return !cpu.ring.stalls() || has_room_for(cpu, 0);
}

/// The access may touch `bytes`, some of them beyond its first byte's region: the next region, if
/// it is unaligned or the instruction is not understood.
[[gnu::noinline]] void note_beyond(Cpu& cpu, unsigned bytes) {
    DeviceAccess& access = cpu.trapped.access;
    const Span* const last = cpu.machine->span_at(access.pa + (bytes - 1));
    if (last != nullptr) cpu.trapped.last = last->owner;
    access.plain = false;
    access.beyond = static_cast<std::uint16_t>(bytes);
}

/// Whether `bytes` of the access lie in the span of the first.
bool is_inside(const DeviceAccess& access, unsigned bytes) {
    return static_cast<std::uint32_t>(access.span->range.end - access.pa.value) >= bytes;
}

/// Makes and records the access, whose locks are held; `usual`: it is plain and recorded. Either
/// the locks are free when it returns, or it returns `again` and a step is armed.
[[gnu::always_inline]] inline Outcome make(DeviceOps& ops, Cpu& cpu, Frame& frame, bool usual) {
    const DeviceAccess& access = cpu.trapped.access;
    if (cpu.repeated_load.watches()) [[unlikely]]
        end_repetition(cpu, frame);
    if (!usual && access.exclusive && access.write) return store_exclusive(cpu, frame);
    if (!usual && !access.recorded) ++cpu.ring.statistics().unselected;
    if (access.write) count_stores(cpu, access);
    const abi::EngineKind engine = cpu.machine->config.engine;
    const bool by_hyp =
        engine == abi::EngineKind::emulation || (!usual && engine == abi::EngineKind::shadow &&
                                                 !access.recorded && needs_no_step(cpu, frame));
    const bool user = arch::mode_of(frame.psr) == arch::Mode::usr;
    if (by_hyp && !usual) return emulate(cpu, frame);
    if (by_hyp && can(cpu, frame, user, true)) return perform(cpu, frame, user, true);
    if (engine == abi::EngineKind::unprotect) [[unlikely]]
        return ops.step(cpu, frame);
    return usual ? begin_step(cpu, frame, *cpu.shadow, true) : begin_step(cpu, frame, *cpu.shadow);
}

/// make() of one that is not both.
[[gnu::noinline]] Outcome make_any(DeviceOps& ops, Cpu& cpu, Frame& frame) {
    return make(ops, cpu, frame, false);
}

/// DeviceOps::access(), of one that can be carried out, as far as is known; `plain`:
/// DeviceAccess::plain.
[[gnu::always_inline]] inline Outcome go_on(DeviceOps& ops, Cpu& cpu, Frame& frame, bool plain) {
    const DeviceAccess& access = cpu.trapped.access;
    if (!take_locks(cpu, frame, plain)) return Outcome::again;
    if ((!plain && access.listed && access.beyond != 0) || access.span->hooks) [[unlikely]] {
        if (const auto instead = ask_hooks(cpu, frame)) return *instead;
        plain = false;
    }
    if (ops.looks && !ops.before(cpu, frame)) return Outcome::again;
    if (plain && access.recorded) [[likely]]
        return make(ops, cpu, frame, true);
    return make_any(ops, cpu, frame);
}

} // namespace

// If the store-exclusive had to wait, Hyp would clear the guest's monitor meanwhile, the store
// would fail, and the next load would take the room.
std::uint64_t room_needed(const Cpu& cpu, const DeviceAccess& access) {
    const std::uint64_t records =
        access.beats + (cpu.machine->config.pre ? 1 : 0) + (access.stage1_walk ? 1 : 0);
    return access.exclusive && !access.write ? 2 * records : records;
}

bool has_room_for(Cpu& cpu, std::uint64_t more) {
    const DeviceAccess& access = cpu.trapped.access;
    return !access.recorded || !cpu.ring.stalls() ||
           cpu.ring.has_room(room_needed(cpu, access) + more) || give_up(cpu);
}

bool can_emulate(Cpu& cpu, const Frame& frame) {
    return can(cpu, frame, arch::mode_of(frame.psr) == arch::Mode::usr, false);
}

Outcome emulate(Cpu& cpu, Frame& frame) {
    const bool user = arch::mode_of(frame.psr) == arch::Mode::usr;
    return can(cpu, frame, user, false) ? perform(cpu, frame, user, false)
                                        : begin_step(cpu, frame, *cpu.shadow);
}

Outcome DeviceOps::access(Cpu& cpu, Frame& frame, abi::FaultReason why) {
    const DeviceAccess& access = cpu.trapped.access;
    const bool usual = access.plain && cpu.debug.usable() && !cpu.trapped.stuck &&
                       is_inside(access, 1u << access.log2_size);
    if (usual) [[likely]]
        return go_on(*this, cpu, frame, true);

    if (why == abi::FaultReason::none) why = objection(cpu, frame);
    if (why != abi::FaultReason::none) return refuse(cpu, frame, why);
    cpu.trapped.last = access.span->owner;
    constexpr unsigned longest = 128; // VLDM of sixteen doublewords
    const unsigned bytes = access.decoded ? 1u << access.log2_size : longest;
    if (!is_inside(access, bytes)) note_beyond(cpu, bytes);
    return go_on(*this, cpu, frame, false);
}

} // namespace mmioscope
