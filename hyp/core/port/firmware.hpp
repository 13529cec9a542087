// Calls to the firmware below Hyp.
#pragma once

#include <cstdint>

namespace mmioscope::port {

/// SMC with a function identifier and its arguments (SMC Calling Convention, Arm DEN 0028). Returns
/// the answer in r0; does not return from calls like CPU_OFF that do not.
std::uint32_t call_firmware(std::uint32_t function, std::uint32_t a, std::uint32_t b,
                            std::uint32_t c);

/// The address at which firmware must start a CPU for the hypervisor (boot/start.S).
std::uint32_t cpu_on_entry();

} // namespace mmioscope::port
