#include "engine/engine.hpp"

#include "arch/hsr.hpp"
#include "arch/psr.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "port/device.hpp"

namespace mmioscope {

namespace {

/// can_emulate(), on the path of an access; `user`: of User mode. RAM is in the guest's caches.
[[gnu::always_inline]] inline bool can(Cpu& cpu, const Frame& frame, bool user) {
    const DeviceAccess& a = cpu.trapped.access;
    const bool big_endian = (frame.psr & arch::psr_e) != 0;
    return a.syndrome && !a.stage1_walk && !big_endian && a.pa.value % (1u << a.log2_size) == 0 &&
           !a.span->stepped && !cpu.debug.guest_watches() &&
           !(user && cpu.machine->config.user_firewall);
}

/// Does the access; returns the bus's answer.
port::Answer perform(const DeviceAccess& access, const Frame& frame) {
    if (!access.write) return port::try_device_read(access.pa, access.log2_size);
    return port::try_device_write(access.pa, access.log2_size,
                                  bus_value(frame, access.value, access.log2_size));
}

/// Sets the guest's register and the record's value to what a load read.
void deliver(Trapped& trapped, Frame& frame, std::uint32_t value) {
    const DeviceAccess& access = trapped.access;
    trapped.record.value = value;
    set_guest_register(frame, access.reg, extend(value, access.log2_size, access.sign_extend));
}

/// Whether Hyp makes an access that makes no record itself, which costs less: it has the same
/// privilege and memory type on the bus. Memory is the guest's to map, and may be in its cache.
[[gnu::noinline]] bool needs_no_step(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    return arch::mode_of(frame.psr) != arch::Mode::usr && !access.span->memory &&
           can_emulate(cpu, frame);
}

} // namespace

bool can_emulate(Cpu& cpu, const Frame& frame) {
    return can(cpu, frame, arch::mode_of(frame.psr) == arch::Mode::usr);
}

Outcome emulate(Cpu& cpu, Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record& record = cpu.trapped.record;
    const bool user = arch::mode_of(frame.psr) == arch::Mode::usr;
    if (!can(cpu, frame, user)) return begin_step(cpu, frame, *cpu.shadow);

    if (access.recorded || access.ends_machine) begin_access(cpu, frame, abi::access_emulated);
    else cpu.locks.next_sequence(*access.span->owner); // progress, as LockHolder::sequence tells
    const port::Answer answer = perform(access, frame);
    record.duration = // before the lock is released
        static_cast<std::uint32_t>(cpu.ring.complete()) - static_cast<std::uint32_t>(record.time);
    Outcome outcome = Outcome::done;
    // It makes the guest take the abort that its own access would have met.
    if (answer.hsr != 0) outcome = hand_on_abort(cpu, frame, arch::Hsr(answer.hsr));
    else if (!access.write) deliver(cpu.trapped, frame, answer.value);
    if (access.recorded && (record.flags & abi::flag_early) == 0)
        cpu.ring.publish(record, cpu.trapped.payload);
    cpu.ring.finish();
    give_locks_back(cpu, frame);
    count_emulated(cpu, user);
    return outcome;
}

Outcome DeviceOps::make(Cpu& cpu, Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    if (cpu.repeated_load.watches()) end_repetition(cpu, frame);
    if (access.exclusive && access.write) return store_exclusive(cpu, frame);
    count_access(cpu);
    const bool by_hyp = cpu.machine->config.engine == abi::EngineKind::emulation ||
                        (!access.recorded && needs_no_step(cpu, frame));
    return by_hyp ? emulate(cpu, frame) : begin_step(cpu, frame, *cpu.shadow);
}

} // namespace mmioscope
