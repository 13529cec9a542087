#include "engine/record.hpp"

#include "arch/psr.hpp"
#include "engine/service.hpp"
#include "guest/banks.hpp"
#include "guest/exception.hpp"
#include "machine/machine.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"

#include <span>
#include <utility>

namespace mmioscope {

namespace {

/// If only the first byte of a store is known, it may go to any block.
void count_unknown_stores(Cpu& cpu, const DeviceAccess& access) {
    for (Owner* const owner : {access.span->owner, cpu.trapped.last})
        for (unsigned n = 0; n < store_blocks; ++n) cpu.locks[*owner].count_store({8 * n});
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

std::optional<Outcome> ask_hooks(Cpu& cpu, Frame& frame) {
    DeviceAccess& access = cpu.trapped.access;
    if (access.listed) return call_each(cpu, frame, false);
    access.hooked = true;
    access.plain = false;
    return access.span->hooks->before(cpu, frame);
}

void tell_hooks(Cpu& cpu, Frame& frame) {
    if (cpu.trapped.access.listed) call_each(cpu, frame, true);
    else cpu.trapped.access.span->hooks->after(cpu, frame);
}

void count_stores(Cpu& cpu, const DeviceAccess& access) {
    if (!access.decoded) return count_unknown_stores(cpu, access);
    if (!access.listed) {
        cpu.locks[*access.span->owner].count_store(access.pa);
        const PhysicalAddress last = access.pa + ((1u << access.log2_size) - 1);
        Owner& owner = access.beyond != 0 ? *cpu.trapped.last : *access.span->owner;
        if (last.value / 8 != access.pa.value / 8) cpu.locks[owner].count_store(last);
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

void begin_access(Cpu& cpu, const Frame& frame, std::uint8_t how) {
    begin_access(cpu, frame, how, false);
}

void announce(Cpu& cpu) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record begin = cpu.trapped.record;
    begin.type = abi::RecordType::begin;
    if (access.listed) begin.lock_sequence = cpu.locks[*access.span->owner].upcoming_sequence();
    begin.duration = 0;
    if (access.listed || !access.write) {
        begin.flags |= abi::flag_value_unknown;
        begin.value = 0;
    }
    cpu.ring.announce(begin, access.listed);
    port::complete_system(); // it leaves before the access does
}

void publish_beats(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record record = cpu.trapped.record;
    const auto how = static_cast<std::uint8_t>(record.access & ~abi::encode_access(true, ~0u));
    const Payload* payload = &cpu.trapped.payload;
    for (const Beat& beat : std::span(cpu.trapped.beats, access.beats)) {
        if (beat.span == nullptr || !beat.span->traced()) continue;
        record.device = beat.span->region;
        record.va = beat.va.value;
        abi::set_physical_address(record, beat.pa.value);
        record.access = how | abi::encode_access(beat.write, beat.log2_size);
        const std::uint32_t value =
            beat.write || (beat.place == arch::pc && access.bank == arch::Bank::core)
                ? beat.value
                : banked_value(frame, access.bank, beat.place, access.log2_size).value_or(0) >>
                      8 * beat.byte;
        record.value = bus_value(frame, value, beat.log2_size);
        record.lock_sequence = cpu.locks.next_sequence(*beat.span->owner);
        cpu.ring.publish(record, *std::exchange(payload, &no_payload));
        record.flags |= abi::flag_same_instruction;
    }
}

abi::Record describe_fault(const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                           std::uint8_t access, abi::FaultReason reason) {
    abi::Record r;
    describe_context(r, frame, va, pa);
    r.duration = r.lock_sequence = 0;
    r.type = abi::RecordType::fault;
    r.device = abi::no_device;
    r.access = access;
    r.value = abi::fault_value(reason);
    return r;
}

void publish_remark(Cpu& cpu, abi::Record& record) {
    if (!cpu.ring.stalls() || cpu.ring.has_room(1)) cpu.ring.publish_event(record);
}

} // namespace mmioscope
