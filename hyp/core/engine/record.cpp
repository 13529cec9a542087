#include "engine/record.hpp"

#include "guest/banks.hpp"
#include "port/banked.hpp"
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
    } else {
        r.lr = guest_register(frame, 14);
        r.sp = guest_register(frame, 13);
    }
    r.task = guest_task(frame);
}

} // namespace

void describe(Step& step, const Frame& frame) {
    const DeviceAccess& access = step.access;
    abi::Record& r = step.record;
    describe_context(r, frame, access.va, access.pa);
    r.type = access.stage1_walk ? abi::RecordType::page_table_walk : abi::RecordType::access;
    r.device = access.span->region;
    r.access = static_cast<std::uint8_t>(abi::encode_access(access.write, access.log2_size) |
                                         (access.sign_extend ? abi::access_sign_extend : 0u) |
                                         (access.syndrome ? abi::access_syndrome : 0u));
    if (!access.decoded) r.flags = abi::flag_value_unknown;
    const bool known = access.write && access.decoded && !access.listed;
    r.value = known ? bus_value(frame, access.value, access.log2_size) : 0;
}

void publish_beats(Cpu& cpu, const Frame& frame) {
    const DeviceAccess& access = cpu.step.access;
    abi::Record record = cpu.step.record;
    for (unsigned n = 0; n < access.beats; ++n) {
        const Beat& beat = cpu.step.beats[n];
        if (beat.span == nullptr || !beat.span->traced()) continue;
        record.device = beat.span->region;
        record.va = beat.va.value;
        abi::set_physical_address(record, beat.pa.value);
        record.access = static_cast<std::uint8_t>((record.access & ~abi::access_write) |
                                                  (beat.write ? abi::access_write : 0u));
        const std::uint32_t value =
            beat.write ? beat.value
                       : banked_value(frame, access.bank, beat.place, access.log2_size).value_or(0);
        record.value = bus_value(frame, value, access.log2_size);
        record.lock_sequence = cpu.locks.next_sequence(record.device);
        cpu.ring.publish(record);
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
