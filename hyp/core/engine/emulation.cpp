#include "engine/emulation.hpp"

#include "arch/hsr.hpp"
#include "arch/psr.hpp"
#include "engine/record.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"
#include "machine/machine.hpp"
#include "port/device.hpp"

namespace mmioscope {

namespace {

bool described_by_syndrome(const Frame& frame, const DeviceAccess& a) {
    const bool big_endian = (frame.psr & arch::psr_e) != 0;
    return a.syndrome && !a.stage1_walk && !big_endian && a.pa.value % (1u << a.log2_size) == 0;
}

/// EmulationEngine::can_do(), on the path of an access; `user`: of User mode.
[[gnu::always_inline]] inline bool can(Cpu& cpu, const Frame& frame, bool user) {
    return described_by_syndrome(frame, cpu.step.access) && !cpu.debug.guest_watches() &&
           !(user && cpu.machine->config.user_firewall);
}

/// Does the access; returns the bus's answer.
port::Answer perform(const DeviceAccess& access, const abi::Record& record) {
    if (!access.write) return port::try_device_read(access.pa, access.log2_size);
    return port::try_device_write(access.pa, access.log2_size,
                                  static_cast<std::uint32_t>(record.value));
}

/// Sets the guest's register, or makes it take the abort that its own access would have met.
/// Completes the record.
Outcome deliver(Cpu& cpu, Frame& frame, port::Answer answer) {
    const DeviceAccess& access = cpu.step.access;
    if (answer.hsr != 0) return hand_on_abort(cpu, frame, arch::Hsr(answer.hsr));
    if (!access.write) {
        cpu.step.record.value = answer.value;
        set_guest_register(frame, access.reg,
                           extend(answer.value, access.log2_size, access.sign_extend));
    }
    return Outcome::done;
}

} // namespace

bool EmulationEngine::can_do(Cpu& cpu, const Frame& frame) {
    return can(cpu, frame, arch::mode_of(frame.psr) == arch::Mode::usr);
}

Outcome EmulationEngine::carry_out(Cpu& cpu, Frame& frame) {
    const DeviceAccess& access = cpu.step.access;
    abi::Record& record = cpu.step.record;
    const bool user = arch::mode_of(frame.psr) == arch::Mode::usr;
    if (!can(cpu, frame, user)) return otherwise_.carry_out(cpu, frame);

    describe(cpu.step, frame);
    record.access |= abi::access_emulated;
    record.lock_sequence = cpu.locks.next_sequence(access.span->region);
    put_in_flight(cpu);
    publish_if_last(cpu, frame);
    const port::Answer answer = perform(access, record);
    const std::uint64_t done = cpu.ring.complete(); // before the lock is released
    const Outcome outcome = deliver(cpu, frame, answer);
    if (access.recorded && (record.flags & abi::flag_early) == 0) {
        record.duration = static_cast<std::uint32_t>(done - record.time);
        cpu.ring.publish(record);
    }
    cpu.ring.finish();
    cpu.locks.release();
    count_emulated(cpu, user);
    return outcome;
}

} // namespace mmioscope
