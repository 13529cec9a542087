#include "engine/record.hpp"

#include "arch/hsr.hpp"
#include "guest/registers.hpp"
#include "machine/machine.hpp"
#include "machine/stepping.hpp"
#include "port/device.hpp"
#include "port/memory.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

namespace {

ExclusiveContext context_of(const Frame& frame) {
    return {.mode = static_cast<std::uint32_t>(arch::mode_of(frame.psr)),
            .sp = guest_register(frame, 13),
            .ttbr0 = port::read<reg::TTBR0>()};
}

unsigned bytes_of(const DeviceAccess& access) {
    return access.beats << access.log2_size;
}

/// Whether no store prevents the store-exclusive.
bool is_reserved(const Cpu& cpu, const Frame& frame) {
    const Reservation& reservation = cpu.reservation;
    const Beat& first = cpu.trapped.beats[0];
    return reservation.held && reservation.pa == first.pa &&
           reservation.bytes == bytes_of(cpu.trapped.access) &&
           reservation.context.same_as(context_of(frame)) &&
           reservation.stores ==
               port::load_shared(cpu.locks[*first.span->owner].stores_to(first.pa));
}

/// Whether the guest cannot have executed CLREX since the load. Without breakpoints that is not
/// known.
bool is_certain(const Cpu& cpu) {
    return cpu.reservation.certain || cpu.monitor_order == MonitorOrder::first ||
           !cpu.debug.usable();
}

/// The guest executes the store-exclusive once more: it fails, or traps. Its monitor is open, since
/// Hyp has taken the locks by exclusives of its own (A3.4.1).
Outcome try_order(Cpu& cpu, Frame& frame) {
    cpu.locks.release();
    cpu.stretch.tries_order = true;
    begin_run(cpu, frame, frame.pc + (cpu.trapped.access.wide ? 4 : 2));
    return Outcome::again;
}

/// Returns the HSR of an external abort, or 0 if all words were stored.
std::uint32_t write_beats(const Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    const Beat& first = cpu.trapped.beats[0];
    // Hyp stores to memory itself. No CPU has the line but one that reads ahead, in a step.
    std::uint32_t hsr = 0;
    if (first.span->memory) port::flush_to_coherency(first.pa, bytes_of(access));
    for (unsigned n = 0; n < access.beats && hsr == 0; ++n) {
        const Beat& beat = cpu.trapped.beats[n];
        const std::uint32_t value = bus_value(frame, beat.value, access.log2_size);
        hsr = port::try_device_write(beat.pa, access.log2_size, value).hsr;
    }
    if (first.span->memory) port::flush_to_coherency(first.pa, bytes_of(access));
    return hsr;
}

Outcome abort(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    abi::Record& record = cpu.trapped.record;
    const Outcome outcome = hand_on_abort(cpu, frame, hsr);
    record.lock_sequence = cpu.locks.next_sequence(*cpu.trapped.access.span->owner);
    if (cpu.trapped.access.recorded) cpu.ring.publish(record, cpu.trapped.payload);
    return outcome;
}

Outcome store(Cpu& cpu, Frame& frame) {
    abi::Record& record = cpu.trapped.record;
    const bool user = arch::mode_of(frame.psr) == arch::Mode::usr;
    count_access(cpu);
    begin_access(cpu, frame, abi::access_emulated);
    const std::uint32_t hsr = write_beats(cpu, frame);
    const std::uint64_t done = cpu.ring.complete(); // before the lock is released
    record.duration = static_cast<std::uint32_t>(done - record.time);
    Outcome outcome = Outcome::done;
    if (hsr != 0) outcome = abort(cpu, frame, arch::Hsr(hsr));
    else if ((record.flags & abi::flag_early) == 0) publish_beats(cpu, frame);
    cpu.ring.finish();
    count_emulated(cpu, user);
    return outcome;
}

/// Reports that the load-exclusive of cpu.trapped makes no progress. It was executed and has its
/// own record.
void report_repetition(Cpu& cpu) {
    abi::Record record = cpu.trapped.record;
    record.type = abi::RecordType::fault;
    record.value = abi::fault_value(abi::FaultReason::no_progress);
    record.duration = record.lock_sequence = 0;
    record.flags = 0;
    publish_remark(cpu, record);
}

} // namespace

void reserve(Cpu& cpu, const Frame& frame) {
    const Beat& first = cpu.trapped.beats[0];
    cpu.reservation = {.held = true,
                       .va = first.va,
                       .pa = first.pa,
                       .bytes = bytes_of(cpu.trapped.access),
                       .stores =
                           port::load_shared(cpu.locks[*first.span->owner].stores_to(first.pa)),
                       .context = context_of(frame)};
    cpu.own_exclusives.guest_reserved(cpu.trapped.record.time);
    if (cpu.repeated_load.count(cpu.trapped.record.pc, first.pa)) report_repetition(cpu);
}

void end_repetition(Cpu& cpu, const Frame& frame) {
    if (cpu.trapped.access.exclusive) return;
    if (cpu.reservation.context.same_as(context_of(frame))) cpu.repeated_load.end();
    else cpu.repeated_load.pass();
}

Outcome store_exclusive(Cpu& cpu, Frame& frame) {
    const bool reserved = is_reserved(cpu, frame);
    const bool certain = is_certain(cpu);
    cpu.reservation.held = false;
    if (reserved && !certain && cpu.monitor_order == MonitorOrder::unknown)
        return try_order(cpu, frame);
    const bool stores = reserved && certain;
    if (stores) cpu.repeated_load.end();
    const Outcome outcome = stores ? store(cpu, frame) : Outcome::done;
    if (outcome == Outcome::done)
        set_guest_register(frame, cpu.trapped.access.status, stores ? 0 : 1);
    cpu.locks.release();
    return outcome;
}

void begin_run(Cpu& cpu, Frame& frame, std::uint32_t stop) {
    cpu.step.ops = &stretch_steps;
    step_in(cpu, frame, *cpu.normal, stop);
}

void note_order(Cpu& cpu, bool executed, arch::Hsr hsr) {
    if (executed) cpu.monitor_order = MonitorOrder::first;
    else if (hsr.ec() == arch::ExceptionClass::data_abort) cpu.monitor_order = MonitorOrder::last;
}

} // namespace mmioscope
