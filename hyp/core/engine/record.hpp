// The record of an access, up to the access: inline, because each slow access comes by.
#pragma once

#include "engine/engine.hpp"
#include "machine/machine.hpp"
#include "machine/stepping.hpp"
#include "port/banked.hpp"
#include "port/sysreg.hpp"

namespace mmioscope {

/// The bits of Record::mode.
constexpr std::uint8_t mode_bits(const Frame& frame) {
    return static_cast<std::uint8_t>(static_cast<std::uint32_t>(arch::mode_of(frame.psr)) |
                                     (in_thumb(frame) ? abi::mode_thumb : 0u));
}

/// Sets who made the access, and where, but not what RingWriter sets. Each word is written once,
/// because clearing the record first would cost as much again.
[[gnu::always_inline]] inline void describe_context(abi::Record& r, const Frame& frame,
                                                    VirtualAddress va, PhysicalAddress pa) {
    r.mode = mode_bits(frame);
    r.flags = 0;
    abi::set_physical_address(r, pa.value);
    r.va = va.value;
    r.pc = frame.pc;
    if (arch::mode_of(frame.psr) == arch::Mode::svc) { // nearly always
        r.lr = port::read_lr_svc();
        r.sp = port::read_sp_svc();
        r.task = port::read<reg::TPIDRURO>();
    } else {
        r.lr = guest_register(frame, 14);
        r.sp = guest_register(frame, 13);
        r.task = guest_task(frame);
    }
}

/// Sets what is known of `r` before the access, except for the order and the time.
[[gnu::always_inline]] inline void describe(abi::Record& r, const Frame& frame,
                                            const DeviceAccess& access, std::uint8_t how,
                                            bool plain) {
    describe_context(r, frame, access.va, access.pa);
    const bool walk = !plain && access.stage1_walk;
    r.type = walk ? abi::RecordType::page_table_walk : abi::RecordType::access;
    r.device = access.span->region;
    const bool write = access.write && !walk;
    r.access = static_cast<std::uint8_t>(abi::encode_access(write, access.log2_size) |
                                         (access.sign_extend ? abi::access_sign_extend : 0u) |
                                         (access.syndrome ? abi::access_syndrome : 0u) | how);
    const bool decoded = plain || access.decoded;
    if (!decoded || walk) r.flags = abi::flag_value_unknown;
    const bool known = access.write && decoded && (plain || !access.listed);
    if (known) r.value = bus_value(frame, access.value, access.log2_size);
    if (plain) return; // the access sets the rest
    if (!known) r.value = 0;
    r.duration = r.lock_sequence = 0;
}

/// Publishes the begin record of cpu.trapped, which has left this CPU before the access does.
void announce(Cpu& cpu);

/// Begins cpu.trapped.access, whose locks are held and which goes out next: sets cpu.trapped.record
/// to everything except duration and a load's value, and for a listed access `lock_sequence`; marks
/// the access as in flight. `how`: 0, or abi::access_emulated. In `pre` mode its begin record is in
/// memory when this returns, and if it may end the machine its own.
void begin_access(Cpu& cpu, const Frame& frame, std::uint8_t how);
/// Inline; `plain`: DeviceAccess::plain.
[[gnu::always_inline]] inline void begin_access(Cpu& cpu, const Frame& frame, std::uint8_t how,
                                                bool plain) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record& record = cpu.trapped.record;
    describe(record, frame, access, how, plain);
    if (plain || !access.listed)
        record.lock_sequence = cpu.locks.next_sequence(*access.span->owner);
    record.time = cpu.ring.begin(record.pc, access.pa.value);
    if (cpu.machine->config.pre && access.recorded) announce(cpu);
    if (!plain && access.ends_machine) publish_last(cpu, frame);
}

/// begin_step(), on the path of an access; `plain`: DeviceAccess::plain.
[[gnu::always_inline]] inline Outcome begin_step(Cpu& cpu, Frame& frame, const View& view,
                                                 bool plain) {
    const DeviceAccess& access = cpu.trapped.access;
    if (plain) begin_access(cpu, frame, 0, true);
    else begin_access(cpu, frame, 0);
    cpu.ring.count(&abi::Statistics::stepped);
    step_in(cpu, frame, view, frame.pc + 2 + 2 * access.wide);
    // Its own use of CP15, in maintenance or translation by address, does not trap.
    if (!plain && access.stage1_walk && cpu.trapped.by_cp15)
        port::write<reg::HSTR>(arch::hstr_cp15 & ~bit(7));
    return Outcome::again;
}

} // namespace mmioscope
