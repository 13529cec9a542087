#include "engine/engine.hpp"

#include "arch/psr.hpp"
#include "engine/service.hpp"
#include "guest/exception.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

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

/// If only the first byte of a store is known, it may go to any block.
void count_unknown_stores(Cpu& cpu, const DeviceAccess& access) {
    for (Owner* const owner : {access.span->owner, cpu.trapped.last})
        for (unsigned n = 0; n < store_blocks; ++n) cpu.locks[*owner].count_store({8 * n});
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

/// Of all that one instruction reaches, each once.
[[gnu::noinline]] std::optional<Outcome> call_each(Cpu& cpu, Frame& frame, bool behind) {
    AccessHooks *called[arch::max_beats], **end = called;
    for (unsigned n = 0; n < cpu.trapped.access.beats; ++n) {
        const Span* const span = cpu.trapped.beats[n].span;
        if (span == nullptr || !span->hooks || std::find(called, end, span->hooks) != end) continue;
        cpu.trapped.access.hooked = true;
        *end++ = span->hooks;
        if (behind) span->hooks->after(cpu, frame);
        else if (const auto instead = span->hooks->before(cpu, frame)) return instead;
    }
    return {};
}

} // namespace

// If the store-exclusive had to wait, Hyp would clear the guest's monitor meanwhile, the store
// would fail, and the next load would take the room.
std::uint64_t room_needed(const Cpu& cpu, const DeviceAccess& access) {
    const std::uint64_t records =
        access.beats + (cpu.machine->config.pre ? 1 : 0) + (access.stage1_walk ? 1 : 0);
    return access.exclusive && !access.write ? 2 * records : records;
}

bool take_locks(Cpu& cpu, const Frame& frame) {
    DeviceAccess& access = cpu.trapped.access;
    if (cpu.machine->ending.load(std::memory_order_relaxed) != 0) return give_up(cpu);
    const bool several = access.listed || access.beyond != 0;
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

std::optional<Outcome> ask_hooks(Cpu& cpu, Frame& frame) {
    DeviceAccess& access = cpu.trapped.access;
    if (access.listed) return call_each(cpu, frame, false);
    access.hooked = true;
    return access.span->hooks->before(cpu, frame);
}

void tell_hooks(Cpu& cpu, Frame& frame) {
    if (cpu.trapped.access.listed) call_each(cpu, frame, true);
    else cpu.trapped.access.span->hooks->after(cpu, frame);
}

bool has_room_for(Cpu& cpu, std::uint64_t more) {
    const DeviceAccess& access = cpu.trapped.access;
    return !access.recorded || !cpu.ring.stalls() ||
           cpu.ring.has_room(room_needed(cpu, access) + more) || give_up(cpu);
}

void count_stores(Cpu& cpu, const DeviceAccess& access) {
    if (!access.decoded) return count_unknown_stores(cpu, access);
    if (!access.listed) {
        cpu.locks[*access.span->owner].count_store(access.pa);
        const PhysicalAddress last = access.pa + ((1u << access.log2_size) - 1);
        if (last.value / 8 != access.pa.value / 8) cpu.locks[*cpu.trapped.last].count_store(last);
        return;
    }
    for (unsigned n = 0; n < access.beats; ++n) {
        const Beat& beat = cpu.trapped.beats[n];
        if (beat.write && beat.span != nullptr) cpu.locks[*beat.span->owner].count_store(beat.pa);
    }
}

Outcome hand_on_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record& record = cpu.trapped.record;
    record.type = abi::RecordType::fault;
    record.value = abi::fault_value(abi::FaultReason::external_abort);
    inject_data_abort(frame, access.va, access.write, answered_by(hsr));
    return Outcome::taken;
}

void publish_last(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record& record = cpu.trapped.record;
    if (access.recorded) {
        record.flags |= abi::flag_early;
        if (access.listed) publish_beats(cpu, frame);
        else cpu.ring.publish(record, cpu.trapped.payload);
    }
    cpu.ring.finish(); // the access has its record, or it gets none
    port::complete_system();
    end_services(cpu, access.resets_machine ? MachineEnd::reset : MachineEnd::off);
    cpu.work_done = false; // once more behind the access, where the stream waits for the end
}

} // namespace mmioscope
