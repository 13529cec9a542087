#include "engine/record.hpp"

#include "arch/control.hpp"
#include "arch/psr.hpp"
#include "guest/exception.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "machine/stepping.hpp"
#include "port/sysreg.hpp"

#include <utility>

namespace mmioscope {

namespace {

bool took_data_abort(StepEnd end, const Frame& frame) {
    return end == StepEnd::exception && arch::mode_of(frame.psr) == arch::Mode::abt &&
           frame.pc == guest_vectors() + data_vector;
}

/// Whether the instruction, which was not executed, may have made accesses all the same: those
/// before the one that aborted, or met a watchpoint, at another address than the step's.
bool accessed_before(const Trapped& trapped, StepEnd end, const Frame& frame, arch::Hsr hsr) {
    const VirtualAddress va = trapped.access.va;
    const bool trap = end == StepEnd::trap && hsr.ec() == arch::ExceptionClass::data_abort &&
                      frame.pc == trapped.record.pc;
    std::uint32_t behind = 0; // bytes
    if (took_data_abort(end, frame)) behind = port::read<reg::DFAR>() - va.value;
    else if (trap || end == StepEnd::watchpoint) behind = port::read<reg::HDFAR>() - va.value;
    if (end == StepEnd::watchpoint && behind < 1u << trapped.access.log2_size)
        return false; // it may be on any byte
    return static_cast<std::int32_t>(behind) > 0;
}

/// Whether a page had just become invalid (services/changing/): that of the instruction, of one of
/// the guest's tables on the way to its first access, or the one that it accesses, which had another
/// owner at the trap. A begin record promises another record,
/// one of the machine's end is there already, and the baseline has given its lock back.
[[gnu::cold]] bool has_done_nothing(const Cpu& cpu, const Frame& frame, arch::Hsr hsr) {
    const Trapped& trapped = cpu.trapped;
    if (frame.pc != trapped.record.pc || cpu.machine->config.pre || trapped.access.ends_machine ||
        !cpu.locks.held())
        return false;
    if (hsr.ec() == arch::ExceptionClass::prefetch_abort) return !hsr.debug_event();
    const bool by_walk = hsr.stage1_walk() && !trapped.access.stage1_walk;
    const Span* const span = cpu.machine->span_at(trapped.access.pa);
    const bool by_owner = span == nullptr || span->owner != trapped.access.span->owner;
    return hsr.ec() == arch::ExceptionClass::data_abort && (by_walk || by_owner) &&
           !accessed_before(trapped, StepEnd::trap, frame, hsr);
}

/// As if there had been no step. The trap must still be handled.
[[gnu::cold]] bool take_back(Cpu& cpu, Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    cpu.trapped.stuck = false;
    if (!access.listed) cpu.locks[*access.span->owner].return_sequence();
    cpu.ring.finish();
    give_locks_back(cpu, frame);
    ++cpu.ring.statistics().retries;
    return false;
}

/// Why there was no access: the guest took an exception instead.
abi::FaultReason why_not(const Trapped& trapped, StepEnd end, const Frame& frame, arch::Hsr hsr) {
    if (accessed_before(trapped, end, frame, hsr)) return abi::FaultReason::access_unknown;
    return took_data_abort(end, frame) && took_external_abort()
               ? abi::FaultReason::external_abort
               : abi::FaultReason::step_ended_abnormally;
}

void set_fault(abi::Record& r, abi::FaultReason why) {
    r.type = abi::RecordType::fault;
    r.value = abi::fault_value(why);
    const bool unknown = why == abi::FaultReason::access_unknown;
    r.flags = static_cast<std::uint8_t>((r.flags & ~abi::flag_value_unknown) |
                                        (unknown ? abi::flag_value_unknown : 0u));
}

void complete(Trapped& trapped, const Frame& frame, StepEnd end, arch::Hsr hsr) {
    abi::Record& r = trapped.record;
    if (trapped.access.stage1_walk) return;
    if (!executed(end)) {
        set_fault(r, why_not(trapped, end, frame, hsr));
    } else if (trapped.access.listed && trapped.cut) {
        r.flags |= abi::flag_value_unknown; // another CPU has mapped the rest: it may be a device
    } else if (!trapped.access.write && trapped.access.decoded && !trapped.access.listed) {
        r.value =
            bus_value(frame, guest_register(frame, trapped.access.reg), trapped.access.log2_size);
    }
}

/// The walk, and then what its instruction accessed.
[[gnu::noinline]] void publish_walk(Cpu& cpu, const Frame& frame, StepEnd end, arch::Hsr hsr) {
    Trapped& trapped = cpu.trapped;
    abi::Record& r = trapped.record;
    const bool known = trapped.access.listed && !trapped.cut;
    if (trapped.access.listed)
        r.lock_sequence = cpu.locks.next_sequence(*trapped.access.span->owner);
    cpu.ring.publish(r);
    if (trapped.by_cp15) return;
    r.flags = 0;
    if (executed(end) && known) {
        r.type = abi::RecordType::access;
        return publish_beats(cpu, frame);
    }
    // The address is where the instruction would go first; it is known only if it was listed.
    const Beat first = trapped.access.listed ? trapped.beats[0] : Beat{};
    r.device = first.span != nullptr ? first.span->region : abi::no_device;
    abi::set_physical_address(r, first.pa.value);
    r.lock_sequence = first.span != nullptr ? cpu.locks.next_sequence(*first.span->owner) : 0;
    set_fault(r,
              executed(end) ? abi::FaultReason::access_unknown : why_not(trapped, end, frame, hsr));
    cpu.ring.publish(r);
}

/// If it is not known whether the words before the one that met an external abort were accessed:
/// that word's own record.
[[gnu::noinline]] void publish_aborted(Cpu& cpu) {
    Trapped& trapped = cpu.trapped;
    abi::Record& r = trapped.record;
    if (abi::fault_reason(r.value) != abi::FaultReason::access_unknown || !took_external_abort())
        return;
    for (unsigned n = 0; n < trapped.access.beats; ++n) {
        const Beat& beat = trapped.beats[n];
        if (beat.va.value != port::read<reg::DFAR>() || beat.span == nullptr) continue;
        r.va = beat.va.value;
        abi::set_physical_address(r, beat.pa.value);
        r.device = beat.span->region;
        r.lock_sequence = cpu.locks.next_sequence(*beat.span->owner);
        set_fault(r, abi::FaultReason::external_abort);
        return cpu.ring.publish(r);
    }
}

/// DeviceOps::finish() of a plain access, as planned.
[[gnu::always_inline]] inline bool finish_plain(Cpu& cpu, const Frame& frame) {
    Trapped& trapped = cpu.trapped;
    const DeviceAccess& access = trapped.access;
    trapped.stuck = false;
    if (!access.write)
        trapped.record.value =
            bus_value(frame, guest_register(frame, access.reg), access.log2_size);
    if (access.recorded) cpu.ring.publish(trapped.record, trapped.payload);
    cpu.ring.finish();
    if (cpu.locks.held()) cpu.locks.release(); // the baseline has given it back already
    return true;
}

void publish(Cpu& cpu, const Frame& frame, StepEnd end, arch::Hsr hsr) {
    Trapped& trapped = cpu.trapped;
    if (!trapped.access.recorded || (trapped.record.flags & abi::flag_early) != 0) return;
    if (trapped.access.stage1_walk) return publish_walk(cpu, frame, end, hsr);
    if (executed(end) && trapped.access.listed && !trapped.cut) return publish_beats(cpu, frame);
    // An abort needs no sequence number for each word, only one.
    if (trapped.access.listed)
        trapped.record.lock_sequence = cpu.locks.next_sequence(*trapped.access.span->owner);
    cpu.ring.publish(trapped.record, trapped.payload);
    if (took_data_abort(end, frame) && trapped.access.listed) publish_aborted(cpu);
}

} // namespace

Outcome begin_step(Cpu& cpu, Frame& frame, const View& view) {
    return begin_step(cpu, frame, view, false);
}

bool DeviceOps::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    Trapped& trapped = cpu.trapped;
    const StepEnd end = leave_step(cpu, frame, hsr);
    trapped.record.duration = static_cast<std::uint32_t>(cpu.step.done - trapped.record.time);
    if (end == StepEnd::planned && trapped.access.plain) [[likely]]
        return finish_plain(cpu, frame);
    if (end == StepEnd::trap && has_done_nothing(cpu, frame, hsr)) return take_back(cpu, frame);
    trapped.stuck = false;
    // The registers are those of the instruction, if an exception came behind it.
    const std::uint32_t psr = std::exchange(frame.psr, executed(end) ? cpu.step.psr : frame.psr);
    complete(trapped, frame, end, hsr);
    publish(cpu, frame, end, hsr);
    frame.psr = psr;
    cpu.ring.finish();
    if (executed(end) && trapped.access.exclusive && trapped.access.listed) reserve(cpu, frame);
    if (cpu.locks.held()) give_locks_back(cpu, frame); // the baseline has given them back already
    if (end == StepEnd::planned) return true;

    ++cpu.ring.statistics().abnormal;
    if (end == StepEnd::trap && hsr.ec() == arch::ExceptionClass::data_abort &&
        frame.pc == trapped.record.pc) {
        trapped.stuck = true;
        trapped.stuck_pc = trapped.record.pc;
        trapped.stuck_pa = trapped.access.pa;
    }
    return caused_trap(cpu, frame, hsr, end);
}

} // namespace mmioscope
