// Makes records of accesses.
#pragma once

#include "abi/record.hpp"
#include "arch/psr.hpp"
#include "entry/frame.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Begins cpu.trapped.access, whose locks are held and which goes out next: sets cpu.trapped.record
/// to everything except duration and a load's value, and for a listed access `lock_sequence`; marks
/// the access as in flight. `how`: 0, or abi::access_emulated. In `pre` mode its begin record is in
/// memory when this returns, and if it may end the machine its own.
void begin_access(Cpu& cpu, const Frame& frame, std::uint8_t how);

/// What a load puts in its register when the bus answers `value`.
constexpr std::uint32_t extend(std::uint32_t value, unsigned log2_size, bool sign) {
    if (log2_size >= 2 || !sign) return value;
    return log2_size == 0 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value))
                          : static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
}

/// The value on the bus when the guest's register has `value`: reduced to the access's size, with
/// its bytes swapped if the guest runs big-endian (CPSR.E).
constexpr std::uint32_t bus_value(const Frame& frame, std::uint32_t value, unsigned log2_size) {
    if ((frame.psr & arch::psr_e) == 0) [[likely]]
        return log2_size >= 2 ? value : value & ((1u << (8u << log2_size)) - 1);
    return __builtin_bswap32(value) >> (log2_size >= 2 ? 0 : 32 - (8u << log2_size));
}

/// Publishes a record for each access of a listed instruction to a traced device, in the order of
/// the bus: cpu.trapped.record with that access's address, direction and value. A load's value is
/// what its register contains now.
void publish_beats(Cpu& cpu, const Frame& frame);

/// A `fault` record with the reason why an access reached no device.
abi::Record describe_fault(const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                           std::uint8_t access, abi::FaultReason reason);

/// Publishes a record about the guest's accesses that is not itself one. Under `stall`, which
/// promises no losses, only if the ring has room.
void publish_remark(Cpu& cpu, abi::Record& record);

} // namespace mmioscope
