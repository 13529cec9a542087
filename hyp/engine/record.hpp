// From an access to its record.
#pragma once

#include "abi/record.hpp"
#include "entry/frame.hpp"
#include "machine/access.hpp"

namespace mmioscope {

/// Everything but time, duration, sequence and a load's value.
abi::Record describe(const Frame& frame, const DeviceAccess& access);

/// What is on the bus when the guest has `value` in a register: cut to the access's size, bytes
/// swapped if it runs big-endian (CPSR.E).
std::uint64_t bus_value(const Frame& frame, std::uint32_t value, unsigned log2_size);

/// A record that says why an access reached no device.
abi::Record describe_fault(const Frame& frame, VirtualAddress va, PhysicalAddress pa,
                           std::uint8_t access, abi::FaultReason reason);

} // namespace mmioscope
