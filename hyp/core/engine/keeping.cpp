#include "engine/keeping.hpp"

#include "engine/record.hpp"
#include "machine/machine.hpp"

namespace mmioscope {

namespace {

/// `kept` in what the access stores, if it clears it; 0: it does not.
std::uint64_t cleared(const Trapped& trapped, const Frame& frame, const KeptBit& kept) {
    for (unsigned n = 0; n < trapped.access.beats; ++n) {
        const Beat beat = trapped.beat(n);
        const std::uint64_t at = 8 * (kept.address.value - beat.pa.value) + kept.bit;
        if (!beat.write || at >= 8u << beat.log2_size) continue;
        const std::uint64_t bit = std::uint64_t{1} << at;
        if ((bus_value(frame, beat.value, beat.log2_size) & bit) == 0) return bit;
    }
    return 0;
}

bool clears_any(const Machine& machine, const Trapped& trapped, const Frame& frame) {
    for (const KeptBit& kept : machine.kept_bits)
        if (cleared(trapped, frame, kept) != 0) return true;
    return false;
}

void tell(Cpu& cpu, const Frame& frame, const KeptBit& kept, abi::FaultReason what) {
    const DeviceAccess& access = cpu.trapped.access;
    abi::Record record =
        describe_fault(frame, access.va, kept.address, abi::encode_access(true, 2), what);
    record.device = access.span->region;
    record.value = abi::uart_fault_value(what, kept.region);
    cpu.ring.publish_event(record);
}

} // namespace

Outcome KeepingEngine::carry_out(Cpu& cpu, Frame& frame) {
    const Machine& machine = *cpu.machine;
    DeviceAccess& access = cpu.trapped.access;
    if (!access.decoded || !clears_any(machine, cpu.trapped, frame))
        return otherwise_.carry_out(cpu, frame);

    const std::uint64_t records = room_needed(cpu, access) + 2 * machine.kept_bits.size();
    if (access.recorded && cpu.ring.stalls() && !cpu.ring.has_room(records)) {
        cpu.locks.release();
        ++cpu.ring.statistics().retries;
        return Outcome::again;
    }
    const bool keeps = can_emulate(cpu, frame);
    for (const KeptBit& kept : machine.kept_bits) {
        const std::uint64_t bit = cleared(cpu.trapped, frame, kept);
        if (bit == 0 || (cpu.bus.read(kept.address) >> kept.bit & 1) == 0) continue;
        tell(cpu, frame, kept,
             keeps ? abi::FaultReason::uart_kept : abi::FaultReason::uart_stopped);
        if (keeps) access.value |= static_cast<std::uint32_t>(bit);
    }
    return keeps ? emulate(cpu, frame) : otherwise_.carry_out(cpu, frame);
}

} // namespace mmioscope
