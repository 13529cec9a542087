#include "engine/engine.hpp"

#include "guest/banks.hpp"
#include "machine/machine.hpp"
#include "port/banked.hpp"
#include "port/barrier.hpp"
#include "port/sysreg.hpp"
#include "trace/region_map.hpp"

namespace mmioscope {

namespace {

/// The bits of Record::mode.
std::uint8_t mode_bits(const Frame& frame) {
    return static_cast<std::uint8_t>(static_cast<std::uint32_t>(arch::mode_of(frame.psr)) |
                                     (in_thumb(frame) ? abi::mode_thumb : 0u));
}

/// Sets who made the access, and where, but not what RingWriter sets. Each word is written once,
/// because clearing the record first would cost as much again.
inline void describe_context(abi::Record& r, const Frame& frame, VirtualAddress va,
                             PhysicalAddress pa) {
    r.mode = mode_bits(frame);
    r.duration = r.lock_sequence = 0;
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
inline void describe(abi::Record& r, const Frame& frame, const DeviceAccess& access,
                     std::uint8_t how) {
    describe_context(r, frame, access.va, access.pa);
    r.type = access.stage1_walk ? abi::RecordType::page_table_walk : abi::RecordType::access;
    r.device = access.span->region;
    const bool write = access.write && !access.stage1_walk;
    r.access = static_cast<std::uint8_t>(abi::encode_access(write, access.log2_size) |
                                         (access.sign_extend ? abi::access_sign_extend : 0u) |
                                         (access.syndrome ? abi::access_syndrome : 0u) | how);
    if (!access.decoded || access.stage1_walk) r.flags = abi::flag_value_unknown;
    const bool known = access.write && access.decoded && !access.listed;
    r.value = known ? bus_value(frame, access.value, access.log2_size) : 0;
}

/// Publishes the begin record of cpu.trapped, which has left this CPU before the access does.
[[gnu::noinline]] void announce(Cpu& cpu) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record begin = cpu.trapped.record;
    begin.type = abi::RecordType::begin;
    if (access.listed) begin.lock_sequence = cpu.locks[*access.span->owner].upcoming_sequence();
    if (access.listed || !access.write) begin.flags |= abi::flag_value_unknown;
    cpu.ring.announce(begin, access.listed);
    port::complete_system();
}

} // namespace

void begin_access(Cpu& cpu, const Frame& frame, std::uint8_t how) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record& record = cpu.trapped.record;
    describe(record, frame, access, how);
    if (!access.listed) record.lock_sequence = cpu.locks.next_sequence(*access.span->owner);
    record.time = cpu.ring.begin(record.pc, access.pa.value);
    if (cpu.machine->config.pre && access.recorded) announce(cpu);
    if (access.ends_machine) publish_last(cpu, frame);
}

void publish_beats(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record record = cpu.trapped.record;
    const auto how = static_cast<std::uint8_t>(record.access & ~abi::encode_access(true, ~0u));
    for (unsigned n = 0; n < access.beats; ++n) {
        const Beat& beat = cpu.trapped.beats[n];
        if (beat.span == nullptr || !beat.span->traced()) continue;
        record.device = beat.span->region;
        record.va = beat.va.value;
        abi::set_physical_address(record, beat.pa.value);
        record.access = how | abi::encode_access(beat.write, beat.log2_size);
        const std::uint32_t value =
            beat.write
                ? beat.value
                : banked_value(frame, access.bank, beat.place, access.log2_size).value_or(0) >>
                      8 * beat.byte;
        record.value = bus_value(frame, value, beat.log2_size);
        record.lock_sequence = cpu.locks.next_sequence(*beat.span->owner);
        const bool first = (record.flags & abi::flag_same_instruction) == 0;
        cpu.ring.publish(record, first ? cpu.trapped.payload : Payload{});
        record.flags |= abi::flag_same_instruction;
    }
}

abi::Record describe_fault(const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                           std::uint8_t access, abi::FaultReason reason) {
    abi::Record r;
    describe_context(r, frame, va, pa);
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
