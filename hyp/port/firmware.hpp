// Calls to the firmware below Hyp.
#pragma once

#include <cstdint>

namespace mmioscope::port {

/// SMC with a function identifier and its arguments (SMC Calling Convention, Arm DEN 0028); the
/// answer in r0. What CPU_OFF and its like do not return from, this does not return from.
std::uint32_t call_firmware(std::uint32_t function, std::uint32_t a, std::uint32_t b,
                            std::uint32_t c);

/// Where firmware must send a CPU that it starts for the hypervisor (boot/start.S).
std::uint32_t cpu_on_entry();

} // namespace mmioscope::port
