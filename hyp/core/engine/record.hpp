// Makes records of accesses.
#pragma once

#include "abi/record.hpp"
#include "arch/psr.hpp"
#include "entry/frame.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Sets `step.record` from `step.access`: everything except time, duration, sequence numbers and a
/// load's value.
void describe(Step& step, const Frame& frame);

/// What a load puts in its register when the bus answers `value`.
constexpr std::uint32_t extend(std::uint32_t value, unsigned log2_size, bool sign) {
    if (!sign || log2_size >= 2) return value;
    return log2_size == 0 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value))
                          : static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
}

/// The value on the bus when the guest's register has `value`: reduced to the access's size, with
/// its bytes swapped if the guest runs big-endian (CPSR.E).
constexpr std::uint32_t bus_value(const Frame& frame, std::uint32_t value, unsigned log2_size) {
    const unsigned unused_bits = log2_size >= 2 ? 0 : 32 - (8u << log2_size);
    if ((frame.psr & arch::psr_e) != 0) return __builtin_bswap32(value) >> unused_bits;
    return value & (~0u >> unused_bits);
}

/// Publishes a record for each access of a listed instruction to a traced device, in the order of
/// the bus: cpu.step.record with that access's address, direction and value. A load's value is what
/// its register contains now.
void publish_beats(Cpu& cpu, const Frame& frame);

/// A `fault` record with the reason why an access reached no device.
abi::Record describe_fault(const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                           std::uint8_t access, abi::FaultReason reason);

/// Publishes a record about the guest's accesses that is not itself one. Under `stall`, which
/// promises no losses, only if the ring has room.
void publish_remark(Cpu& cpu, abi::Record& record);

} // namespace mmioscope
