#include "trap/dispatch.hpp"

#include "base/check.hpp"
#include "board/board.hpp"
#include "engine/engine.hpp"
#include "engine/service.hpp"
#include "guest/exception.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"
#include "trap/decode.hpp"
#include "trap/translate.hpp"

namespace mmioscope {

namespace {

// What is seldom called is kept out of what each trap executes.

/// Whether the address of a fault at level 1 is above 4 GiB, of which QEMU 7.2 reports only bits
/// 31:0: the root has an entry for `low`, and that never changes. Of a fault on a walk by short
/// descriptors QEMU reports stage 1's level instead.
[[gnu::noinline]] bool is_above(const View& normal, std::uint64_t low) {
    return !arch::Hsr(port::read<reg::HSR>()).stage1_walk() && low < lpae::input_end &&
           lpae::is_valid(*normal.entry(low, lpae::first_level));
}

/// HPFAR has bits 39:12 of the address in 31:4. It is valid for translation faults and for faults
/// on stage-1 walks (ARM ARM B3.13.5); these tables cause no others.
PhysicalAddress faulting_address(const View& normal, arch::Hsr hsr, VirtualAddress va) {
    const std::uint32_t hpfar = port::read<reg::HPFAR>();
    const std::uint64_t address = (std::uint64_t{hpfar >> 4} << 12) | (va.value & (page_size - 1));
    const bool above = !hsr.page_fault() && hsr.level() == 1 && is_above(normal, address);
    return identity(IntermediateAddress{address | (above ? lpae::input_end : 0)});
}

/// Whether the access to `span` should trap, where no owner says so: only pages that trap, and what
/// is not the guest's, are invalid.
bool traps_rightly(const Machine& machine, const Span* span, PhysicalAddress pa) {
    const bool mapped = span != nullptr || in_memory(machine.guest_memory, pa);
    return !mapped || pa.value >= lpae::input_end || machine.map.page_trapped(pa);
}

/// Whether the page is one that moves. Then the guest tries again.
bool get_page(Cpu& cpu, const Frame& frame, arch::Hsr hsr) {
    Service* const first = cpu.machine->first.load(std::memory_order_relaxed);
    return first != nullptr && first->abort(cpu, frame, hsr);
}

/// Stops if the guest's table lacks a page that it should have. False: the page does not trap any
/// more, or is being changed, so the guest tries again.
[[gnu::noinline]] bool check_table(Cpu& cpu, const Frame& frame, arch::Hsr hsr, const Span* span,
                                   PhysicalAddress pa) {
    Machine& machine = *cpu.machine;
    if (span == nullptr && get_page(cpu, frame, hsr)) return false;
    if (traps_rightly(machine, span, pa)) return true;
    check(!hsr.permission_fault(), "stage-2 permission fault that no owner explains");
    constexpr unsigned max_turns = 2000;
    if (!machine.changes.try_acquire(cpu.number, max_turns, cpu.ring.statistics().lock_spins))
        return false;
    span = machine.span_at(pa); // another CPU may just have given the page to an owner
    const bool missing = !(span != nullptr && span->traps()) && !traps_rightly(machine, span, pa) &&
                         !lpae::is_valid(cpu.normal->lookup(pa.value));
    machine.changes.release();
    if (missing) panic("a page is missing in the guest's table");
    return false;
}

/// Who explains the trap at an address that lies in `span`, or in none.
OwnerOps& owner_of(const Span* span) {
    return span == nullptr || span->is_withheld() ? nobody : *span->owner->ops;
}

void record_fault(Cpu& cpu, const Frame& frame, const DeviceAccess& access, abi::FaultReason why) {
    abi::Record record = describe_fault(frame, access.va, access.pa,
                                        abi::encode_access(access.write, access.log2_size), why);
    if (why == abi::FaultReason::no_breakpoints) record.device = access.span->region;
    cpu.ring.publish_event(record);
}

/// A walk of stage 2 met an external abort (table B3-23). HPFAR is UNKNOWN then (B3.13.5), so the
/// access has no physical address, and no region, page or lock. Hyp does not look at the tables
/// either: that would read the memory that has just failed, and stop the machine. A later try may
/// succeed. A step that ended here does not mean that its page is in no table, so it is not
/// `stuck`.
[[gnu::noinline]] void record_walk_abort(Cpu& cpu, const Frame& frame, arch::Hsr hsr,
                                         DeviceAccess access) {
    access.pa = {};
    if (hsr.isv()) access.log2_size = hsr.log2_size();
    record_fault(cpu, frame, access, abi::FaultReason::table_walk_abort);
    cpu.trapped.stuck = false;
}

/// Each of them needs another CPU that unmaps or changes the code between this CPU's fetch and the
/// look at it, and puts it back in time for the next fetch.
constexpr unsigned most_retries = 32;

/// Whether it is the store-exclusive that Hyp has followed the guest to, which has not trapped: the
/// guest has not fetched it. If it executed that now, with its monitor lost, it would only fail.
/// One to another address is not it.
bool was_followed_to(const Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    if (!cpu.reservation.certain || !access.exclusive || !access.write) return false;
    return access.decoded || arch::decode(cpu.step.code.word, in_thumb(frame)).unpredictable;
}

bool is_in_doubt(const Cpu& cpu, const Frame& frame, abi::FaultReason why) {
    if (was_followed_to(cpu, frame)) return false;
    return why == abi::FaultReason::undecodable || why == abi::FaultReason::loads_pc ||
           !translate(frame, {frame.pc});
}

/// The number of retries in a row, with this one.
unsigned count_retry(Trapped& trapped, std::uint32_t pc, std::uint64_t trap) {
    const bool again = trapped.retried_pc == pc && trapped.retried_trap + 1 == trap;
    trapped.retried_pc = pc;
    trapped.retried_trap = trap;
    return trapped.retries = again ? trapped.retries + 1 : 1;
}

/// What Hyp finds at the guest's PC need not be the instruction that trapped: another CPU may have
/// unmapped or changed it since it was fetched.
///
/// Hyp cannot carry out what it has found at PC, because of `why`. True: it need not be what
/// trapped, so the guest fetches it again, with a translation and from a cache that are no older
/// than Hyp's look. It executes what is there now, or takes its own prefetch abort. False: it was
/// looked at so for many times in a row, or Hyp has followed the guest to it (trap/stretch.hpp).
[[gnu::noinline]] bool retry_fetch(Cpu& cpu, const Frame& frame, abi::FaultReason why) {
    abi::Statistics& statistics = cpu.ring.statistics();
    // While a table is being changed, what lies there cannot be looked at.
    const bool changing = cpu.machine->changes.owner() != Lock::no_owner;
    if (changing) cpu.trapped.retries = 0;
    else if (!is_in_doubt(cpu, frame, why) ||
             count_retry(cpu.trapped, frame.pc, statistics.traps) > most_retries)
        return false;
    port::write<reg::ICIALLU>(0); // and the branch predictor (ARM ARM B2.2.9)
    cpu.view.forget();
    ++statistics.retries;
    return true;
}

/// Why no device of the guest is at `pa`.
abi::FaultReason why_unassigned(const Machine& machine, PhysicalAddress pa, const Span* span) {
    if (machine.own_memory.contains(pa.value)) return abi::FaultReason::hypervisor_memory;
    return span != nullptr ? abi::FaultReason::hypervisor_device
                           : abi::FaultReason::unnamed_address;
}

[[gnu::noinline]] Outcome maintain(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    return owner_of(cpu.trapped.access.span).maintain(cpu, frame, hsr);
}

/// The first word of the instruction that would reach what is not the guest's, or null. What stage
/// 1 does not map reaches nothing: the guest takes its own fault there, in the step.
[[gnu::noinline]] const Beat* beat_beyond(const Cpu& cpu, const DeviceAccess& access) {
    for (unsigned n = 0; n < access.beats; ++n) {
        const Beat& beat = cpu.trapped.beats[n];
        if (!beat.unmapped &&
            (beat.span != nullptr ? beat.span->is_withheld()
                                  : !in_memory(cpu.machine->guest_memory, beat.pa)))
            return &beat;
    }
    return nullptr;
}

/// Whether what was fetched as an exclusive cannot be the instruction that trapped, or must not be
/// one. An unaligned one takes an alignment fault before it traps; but the word that was fetched
/// need not be the instruction that trapped. Registers with hooks do not take exclusives: what a
/// store does there must be known before it is known whether it succeeds; of memory only whether it
/// is recorded. Nor does a firewall take one of User mode's: with every engine Hyp does the store,
/// and the guest cannot, because the trap has cleared its monitor.
[[gnu::noinline]] bool is_no_exclusive(const Cpu& cpu, const Frame& frame,
                                       const DeviceAccess& access) {
    const Beat& first = cpu.trapped.beats[0];
    return !access.decoded || first.span == nullptr ||
           (access.write && !first.span->memory && first.span->hooks != nullptr) ||
           (first.pa.value & ((access.beats << access.log2_size) - 1u)) != 0 ||
           (access.write && cpu.machine->config.user_firewall &&
            arch::mode_of(frame.psr) == arch::Mode::usr);
}

/// If the guest would have to make the access itself, which needs a step, and no breakpoint can end
/// one: why there is no way to make it, or FaultReason::none. Hyp does each store-exclusive itself.
[[gnu::noinline]] abi::FaultReason lack_of_step(Cpu& cpu, const Frame& frame,
                                                const DeviceAccess& access) {
    using enum abi::FaultReason;
    if (can_emulate(cpu, frame) || (access.exclusive && access.write)) return none;
    return cpu.machine->breakpoints ? no_breakpoints : decode_for_page(cpu, frame);
}

/// HPFAR is not valid for permission faults (B3.13.5): sets it. False: the guest's own tables do
/// not lead there any more, so it tries again.
[[gnu::noinline]] bool locate_permission_fault(const Frame& frame, VirtualAddress va) {
    const auto found = translate(frame, va);
    if (found) port::write<reg::HPFAR>(static_cast<std::uint32_t>(found->value >> 12) << 4);
    return found.has_value();
}

/// A data abort that is no translation fault of stage 2. With its place, a permission fault is like
/// one.
[[gnu::noinline]] Outcome other_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr,
                                      const DeviceAccess& access) {
    if (hsr.permission_fault()) {
        if (!locate_permission_fault(frame, access.va)) return Outcome::again;
        return data_abort(cpu, frame, hsr.as_translation_fault());
    }
    check(hsr.abort_on_walk(), "stage-2 fault other than a translation or permission fault");
    record_walk_abort(cpu, frame, hsr, access);
    inject_data_abort(frame, access.va, access.write, answered_by(hsr));
    return Outcome::taken;
}

} // namespace

abi::FaultReason objection(Cpu& cpu, const Frame& frame) {
    using enum abi::FaultReason;
    DeviceAccess& access = cpu.trapped.access;
    if (!cpu.debug.usable())
        if (const auto why = lack_of_step(cpu, frame, access); why != none) return why;
    if (access.exclusive && is_no_exclusive(cpu, frame, access)) return undecodable;
    if (access.listed && access.beyond != 0) {
        if (const Beat* beyond = beat_beyond(cpu, access)) {
            access.va = beyond->va;
            access.pa = beyond->pa;
            return why_unassigned(*cpu.machine, beyond->pa, beyond->span);
        }
    }
    // The same access traps again in its own step: no table has its page.
    const Trapped& last = cpu.trapped;
    return last.stuck && last.stuck_pa == access.pa && last.stuck_pc == frame.pc ? no_progress
                                                                                 : none;
}

Outcome OwnerOps::fetch(Cpu& cpu, Frame& frame, VirtualAddress va, PhysicalAddress pa,
                        bool by_walk) {
    // Behind such a walk any instruction may come; only loads and stores can be stepped.
    if (by_walk) pa = {page_floor(pa.value)};
    abi::Record record =
        describe_fault(frame, va, pa, abi::encode_access(false, 2),
                       by_walk ? abi::FaultReason::walk_of_fetch : abi::FaultReason::none);
    if (!by_walk) record.type = abi::RecordType::fetch;
    const Span* const span = cpu.machine->span_at(pa);
    record.device = span != nullptr ? span->region : abi::no_device;
    cpu.ring.publish_event(record);
    inject_prefetch_abort(frame, va);
    return Outcome::taken;
}

Outcome OwnerOps::maintain(Cpu& cpu, Frame& frame, arch::Hsr) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record record = describe_fault(frame, access.va, access.pa, 0, abi::FaultReason::none);
    record.type = abi::RecordType::maintenance;
    cpu.ring.publish_event(record);
    return Outcome::done;
}

// The abort is as from a bus that answers with an error.
Outcome OwnerOps::refused(Cpu& cpu, Frame& frame, abi::FaultReason why) {
    const DeviceAccess& access = cpu.trapped.access;
    record_fault(cpu, frame, access, why);
    inject_data_abort(frame, access.va, access.write);
    return Outcome::taken;
}

// The board's bus answers.
Outcome Nobody::access(Cpu& cpu, Frame& frame, abi::FaultReason) {
    const DeviceAccess& access = cpu.trapped.access;
    const auto why = why_unassigned(*cpu.machine, access.pa, access.span);
    if (cpu.machine->board.unassigned == Unassigned::aborts || !access.syndrome)
        return refuse(cpu, frame, why);
    record_fault(cpu, frame, access, why);
    if (!access.write) set_guest_register(frame, access.reg, 0);
    return Outcome::done;
}

std::optional<Outcome> MachineRegisterHooks::before(Cpu& cpu, Frame& frame) {
    DeviceAccess& access = cpu.trapped.access;
    if (!access.write || !access.decoded) return {};
    for (unsigned n = 0; n < access.beats; ++n) {
        const Beat beat = cpu.trapped.beat(n);
        if (!beat.write) continue;
        const std::uint32_t value = bus_value(frame, beat.value, beat.log2_size);
        const BoardEvent event = cpu.machine->board.event_of(beat.pa, value);
        access.resets_machine |= event.kind == BoardEvent::Kind::machine_reset;
        access.ends_machine |= access.resets_machine || event.kind == BoardEvent::Kind::machine_off;
        cpu.stopped_others |= event.kind == BoardEvent::Kind::others_stop;
        cpu.machine->power.note(event, value);
    }
    if (!access.ends_machine) return {};
    verify_services(*cpu.machine, Moment::last);
    stop_accesses(cpu);
    return {};
}

void MachineRegisterHooks::after(Cpu& cpu, Frame&) {
    if (cpu.trapped.access.ends_machine) wait_for_end(cpu);
}

// If another CPU may have changed the code, the guest executes that first.
Outcome refuse(Cpu& cpu, Frame& frame, abi::FaultReason why) {
    if (cpu.locks.held()) cpu.locks.release();
    if (retry_fetch(cpu, frame, why)) return Outcome::again;
    return owner_of(cpu.trapped.access.span).refused(cpu, frame, why);
}

Outcome data_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const Machine& machine = *cpu.machine;
    DeviceAccess& access = cpu.trapped.access;
    const Span* const last = access.span;
    static_cast<AccessForm&>(access) = unknown_form;
    access.va = {port::read<reg::HDFAR>()};
    access.write = hsr.write();
    if (!hsr.page_fault() && !hsr.translation_fault()) return other_abort(cpu, frame, hsr, access);
    access.pa = faulting_address(*cpu.normal, hsr, access.va);
    if (hsr.stage1_walk()) {
        access.stage1_walk = true;
        cpu.trapped.by_cp15 = hsr.cache_maintenance(); // or ATS1C*: it is set for those, too
        // HDFAR is the address that the walk was for, so only the page of the descriptor is known.
        access.pa = {page_floor(access.pa.value)};
    }
    const Span* const span = access.span = machine.span_at(access.pa, last);
    if (span == nullptr || !span->traps())
        if (!check_table(cpu, frame, hsr, span, access.pa)) return Outcome::again;
    if (hsr.cache_maintenance() && !access.stage1_walk) return maintain(cpu, frame, hsr);
    return owner_of(span).access(cpu, frame, decode_access(cpu, frame, hsr, access));
}

Outcome prefetch_abort(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    const VirtualAddress va{port::read<reg::HIFAR>()};
    if (hsr.abort_on_walk()) {
        record_walk_abort(cpu, frame, hsr, {{}, {}, va});
        inject_prefetch_abort(frame, va, answered_by(hsr));
        return Outcome::taken;
    }
    check(hsr.translation_fault() || hsr.permission_fault(), "unexpected prefetch abort");
    // Fetching from a device page that is mapped gives a permission fault.
    if (hsr.permission_fault() && !locate_permission_fault(frame, va)) return Outcome::again;
    const PhysicalAddress pa = faulting_address(*cpu.normal, hsr, va);
    const Span* const span = cpu.machine->span_at(pa);
    if (span == nullptr && get_page(cpu, frame, hsr)) return Outcome::again;
    verify_services(*cpu.machine, Moment::doubt); // are the tables damaged?
    const bool traps = span != nullptr && span->traps();
    if (!traps && hsr.translation_fault() && !check_table(cpu, frame, hsr, span, pa))
        return Outcome::again;
    return owner_of(span).fetch(cpu, frame, va, pa, hsr.stage1_walk());
}

} // namespace mmioscope
