// From an access to its record.
#pragma once

#include "abi/record.hpp"
#include "arch/psr.hpp"
#include "entry/frame.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"

namespace mmioscope {

/// Everything but time, duration, sequence and a load's value.
abi::Record describe(const Frame& frame, const DeviceAccess& access);

/// What a load leaves in its register when the bus had `value`.
constexpr std::uint32_t extend(std::uint32_t value, unsigned log2_size, bool sign) {
    if (!sign || log2_size >= 2) return value;
    return log2_size == 0 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(value))
                          : static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
}

/// What is on the bus when the guest has `value` in a register: cut to the access's size, bytes
/// swapped if it runs big-endian (CPSR.E).
std::uint64_t bus_value(const Frame& frame, std::uint32_t value, unsigned log2_size);

/// Publishes a record for each access of a listed instruction to a traced device, in the order of
/// the bus: `record` with its address, direction and value; a load's is what its register holds
/// now.
void publish_beats(Cpu& cpu, const Frame& frame, const DeviceAccess& access, abi::Record record);

/// A record that says why an access reached no device.
abi::Record describe_fault(const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                           std::uint8_t access, abi::FaultReason reason);

/// Publishes what is said of the guest's accesses beside them. Not at the price of a loss: under
/// `stall`, which promises none, only where there is room.
void publish_remark(Cpu& cpu, abi::Record& record);

} // namespace mmioscope
