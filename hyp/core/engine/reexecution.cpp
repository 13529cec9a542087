#include "engine/reexecution.hpp"

#include "arch/control.hpp"
#include "arch/psr.hpp"
#include "engine/engine.hpp"
#include "engine/exclusive.hpp"
#include "engine/record.hpp"
#include "guest/exception.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "port/banked.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

/// The guest will stop at `next_pc`. Its interrupts are masked, because their handlers must not run
/// with the page open.
void arm_step(Cpu& cpu, Frame& frame, std::uint32_t next_pc) {
    Step& step = cpu.step;
    step.next_pc = next_pc;
    // Another CPU may have replaced the instruction by one that leads past the breakpoint.
    // But its own use of CP15, in maintenance or translation by address, does not trap.
    const bool by_cp15 = step.access.stage1_walk && step.by_cp15;
    port::write<reg::HSTR>(by_cp15 ? arch::hstr_cp15 & ~bit(7) : arch::hstr_cp15);
    step.masks = frame.psr & arch::psr_aif;
    frame.psr |= arch::psr_aif;
    step.armed = true;
}

/// Restores the masks from before the step. The guest has taken no exception.
void unmask_interrupts(const Step& step, Frame& frame) {
    frame.psr = (frame.psr & ~arch::psr_aif) | step.masks;
}

/// Whether the instruction was executed and the guest is just after it.
[[gnu::always_inline]] inline bool ends_as_planned(const Step& step, const Frame& frame,
                                                   arch::Hsr hsr) {
    return hsr.debug_event() && !hsr.watchpoint() && frame.pc == step.next_pc &&
           arch::mode_of(frame.psr) == arch::mode_of(step.record.mode);
}

// The vectors of the exceptions that the instruction may take instead (ARM ARM table B1-3).
constexpr std::uint32_t undefined_vector = 0x04;
constexpr std::uint32_t prefetch_vector = 0x0c;
constexpr std::uint32_t data_vector = 0x10;

/// The instruction took an exception, so the step's masks are now in that mode's SPSR. CPSR gets
/// what the exception's entry would have set without them (ARM ARM B1.8.3).
void unmask_interrupts_of_exception(const Step& step, Frame& frame) {
    const bool abort = arch::mode_of(frame.psr) == arch::Mode::abt;
    const auto spsr = abort ? port::Banked::spsr_abt : port::Banked::spsr_und;
    port::write_banked(spsr, (port::read_banked(spsr) & ~arch::psr_aif) | step.masks);
    frame.psr = (frame.psr & ~arch::psr_aif) | arch::psr_i | (step.masks & arch::psr_f) |
                (abort ? arch::psr_a : step.masks & arch::psr_a);
}

/// How the step ended.
enum class End {
    planned, ///< at the breakpoint after the instruction
    /// The instruction was executed, but fetching the next one aborted before its breakpoint.
    next_page,
    exception,  ///< the instruction took an exception of the guest instead
    watchpoint, ///< the guest's own watchpoint fired, before the access
    trap,       ///< another trap to Hyp, still to be handled
};

[[gnu::always_inline]] inline End how_ended(const Step& step, const Frame& frame, arch::Hsr hsr) {
    if (ends_as_planned(step, frame, hsr)) return End::planned;
    if (hsr.watchpoint()) return End::watchpoint;
    if (!hsr.debug_event()) return frame.pc == step.next_pc ? End::next_page : End::trap;
    const arch::Mode mode = arch::mode_of(frame.psr);
    const bool fetch_aborted = mode == arch::Mode::abt &&
                               frame.pc == guest_vectors() + prefetch_vector &&
                               port::read_banked(port::Banked::lr_abt) - 4 == step.next_pc;
    if (fetch_aborted) return End::next_page;
    // At none of the vectors: another CPU has put a BKPT in the instruction's place.
    const std::uint32_t vector = frame.pc - guest_vectors();
    const bool at_vector =
        vector == undefined_vector || vector == prefetch_vector || vector == data_vector;
    return at_vector ? End::exception : End::trap;
}

bool took_data_abort(End end, const Frame& frame) {
    return end == End::exception && arch::mode_of(frame.psr) == arch::Mode::abt &&
           frame.pc == guest_vectors() + data_vector;
}

/// Whether the instruction, which was not executed, may have made accesses all the same: those
/// before the one that aborted, or met a watchpoint, at another address than the step's.
bool accessed_before(const Step& step, End end, const Frame& frame, arch::Hsr hsr) {
    const VirtualAddress va = step.access.va;
    const bool trap = end == End::trap && hsr.ec() == arch::ExceptionClass::data_abort &&
                      frame.pc == step.record.pc;
    std::uint32_t behind = 0; // bytes
    if (took_data_abort(end, frame)) behind = port::read<reg::DFAR>() - va.value;
    else if (trap || end == End::watchpoint) behind = port::read<reg::HDFAR>() - va.value;
    if (end == End::watchpoint && behind < 1u << step.access.log2_size)
        return false; // it may be on any byte
    return static_cast<std::int32_t>(behind) > 0;
}

/// Why there was no access: the guest took an exception instead.
abi::FaultReason why_not(const Step& step, End end, const Frame& frame, arch::Hsr hsr) {
    if (accessed_before(step, end, frame, hsr)) return abi::FaultReason::access_unknown;
    return took_data_abort(end, frame) && took_external_abort()
               ? abi::FaultReason::external_abort
               : abi::FaultReason::step_ended_abnormally;
}

/// Traps that are enabled for a step (HSTR, HDCR). No load or store takes them, so the guest
/// executes something else. After the step it may execute that, or it traps again and is handled
/// then.
bool trapped_by_step(arch::Hsr hsr) {
    using enum arch::ExceptionClass;
    return hsr.ec() == cp15_32 || hsr.ec() == cp15_64 || hsr.ec() == cp14_32 ||
           hsr.ec() == cp14_64 || hsr.ec() == cp14_ldc;
}

bool executed(End end) {
    return end == End::planned || end == End::next_page;
}

void set_fault(abi::Record& r, abi::FaultReason why) {
    r.type = abi::RecordType::fault;
    r.value = abi::fault_value(why);
    const bool unknown = why == abi::FaultReason::access_unknown;
    r.flags = static_cast<std::uint8_t>((r.flags & ~abi::flag_value_unknown) |
                                        (unknown ? abi::flag_value_unknown : 0u));
}

void complete(Step& step, const Frame& frame, End end, arch::Hsr hsr) {
    abi::Record& r = step.record;
    if (step.access.stage1_walk) return;
    if (!executed(end)) {
        set_fault(r, why_not(step, end, frame, hsr));
    } else if (step.access.listed && step.cut) {
        r.flags |= abi::flag_value_unknown; // another CPU has mapped the rest: it may be a device
    } else if (!step.access.write && step.access.decoded && !step.access.listed) {
        r.value = bus_value(frame, guest_register(frame, step.access.reg), step.access.log2_size);
    }
}

/// The walk, and then what its instruction accessed.
[[gnu::noinline]] void publish_walk(Cpu& cpu, const Frame& frame, End end, arch::Hsr hsr) {
    Step& step = cpu.step;
    abi::Record& r = step.record;
    const bool known = step.access.listed && !step.cut;
    if (step.access.listed) r.lock_sequence = cpu.locks.next_sequence(r.device);
    cpu.ring.publish(r);
    if (step.by_cp15) return;
    r.flags = 0;
    if (executed(end) && known) {
        r.type = abi::RecordType::access;
        return publish_beats(cpu, frame);
    }
    // The address is where the instruction would go first; it is known only if it was listed.
    const Beat first = step.access.listed ? step.beats[0] : Beat{};
    r.device = first.span != nullptr ? first.span->region : abi::no_device;
    abi::set_physical_address(r, first.pa.value);
    r.lock_sequence = first.span != nullptr ? cpu.locks.next_sequence(r.device) : 0;
    set_fault(r, executed(end) ? abi::FaultReason::access_unknown : why_not(step, end, frame, hsr));
    cpu.ring.publish(r);
}

/// If it is not known whether the words before the one that met an external abort were accessed:
/// that word's own record.
[[gnu::noinline]] void publish_aborted(Cpu& cpu) {
    Step& step = cpu.step;
    abi::Record& r = step.record;
    if (abi::fault_reason(r.value) != abi::FaultReason::access_unknown || !took_external_abort())
        return;
    for (unsigned n = 0; n < step.access.beats; ++n) {
        const Beat& beat = step.beats[n];
        if (beat.va.value != port::read<reg::DFAR>() || beat.span == nullptr) continue;
        r.va = beat.va.value;
        abi::set_physical_address(r, beat.pa.value);
        r.device = beat.span->region;
        r.lock_sequence = cpu.locks.next_sequence(r.device);
        set_fault(r, abi::FaultReason::external_abort);
        return cpu.ring.publish(r);
    }
}

void publish(Cpu& cpu, const Frame& frame, End end, arch::Hsr hsr) {
    Step& step = cpu.step;
    if (!step.access.recorded || (step.record.flags & abi::flag_early) != 0) return;
    if (step.access.stage1_walk) return publish_walk(cpu, frame, end, hsr);
    if (executed(end) && step.access.listed && !step.cut) return publish_beats(cpu, frame);
    // An abort needs no sequence number for each word, only one.
    if (step.access.listed) step.record.lock_sequence = cpu.locks.next_sequence(step.record.device);
    cpu.ring.publish(step.record, step.payload);
    if (took_data_abort(end, frame) && step.access.listed) publish_aborted(cpu);
}

/// Disarms what arm_step() has armed, and restores the guest's masks.
[[gnu::always_inline]] inline End disarm_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    Step& step = cpu.step;
    step.armed = false;
    port::write<reg::HSTR>(cpu.debug.hstr());
    const End end = how_ended(step, frame, hsr);
    const bool in_exception = (end == End::exception || end == End::next_page) && hsr.debug_event();
    if (in_exception) unmask_interrupts_of_exception(step, frame);
    else unmask_interrupts(step, frame);
    return end;
}

/// As end_step() returns, if the end was not as planned.
bool is_own_trap(Frame& frame, arch::Hsr hsr, End end) {
    if (end == End::watchpoint) inject_watchpoint(frame, {port::read<reg::HDFAR>()});
    // LDC or STC of a debug register: going back to it would make another step of it.
    if (hsr.ec() == arch::ExceptionClass::cp14_ldc) inject_undefined(frame);
    return hsr.debug_event() || trapped_by_step(hsr);
}

} // namespace

void begin_step(Cpu& cpu, Frame& frame) {
    begin_access(cpu, frame, 0);
    arm_step(cpu, frame, frame.pc + (cpu.step.access.wide ? 4 : 2));
    ++cpu.ring.statistics().stepped;
}

bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    Step& step = cpu.step;
    const End end = disarm_step(cpu, frame, hsr);
    step.stuck = false;
    complete(step, frame, end, hsr);
    publish(cpu, frame, end, hsr);
    cpu.ring.finish();
    if (executed(end) && step.access.exclusive && step.access.listed) reserve(cpu, frame);
    if (end == End::planned) return true;

    ++cpu.ring.statistics().abnormal;
    if (end == End::trap && hsr.ec() == arch::ExceptionClass::data_abort &&
        frame.pc == step.record.pc) {
        step.stuck = true;
        step.stuck_pc = step.record.pc;
        step.stuck_pa = step.access.pa;
    }
    return is_own_trap(frame, hsr, end);
}

void begin_run(Cpu& cpu, Frame& frame, std::uint32_t stop) {
    cpu.step.record.mode = static_cast<std::uint8_t>(frame.psr & arch::psr_mode);
    arm_step(cpu, frame, stop);
    cpu.stretch.armed = true;
    cpu.debug.arm(stop, in_thumb(frame));
}

RunEnd end_run(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    cpu.debug.disarm();
    cpu.stretch.armed = cpu.stretch.tries_order = false;
    const End end = disarm_step(cpu, frame, hsr);
    if (end == End::planned) return {.arrived = true, .own_trap = true};
    return {.arrived = false, .own_trap = is_own_trap(frame, hsr, end)};
}

} // namespace mmioscope
