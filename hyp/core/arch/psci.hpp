// The Power State Coordination Interface (Arm DEN 0022D): functions and answers.
#pragma once

#include <cstdint>

namespace mmioscope::psci {

/// Function identifiers of the 32-bit calling convention (DEN 0022D chapter 5).
enum class Function : std::uint32_t {
    version = 0x8400'0000,
    cpu_suspend = 0x8400'0001,
    cpu_off = 0x8400'0002,
    cpu_on = 0x8400'0003,
    affinity_info = 0x8400'0004,
    migrate_info_type = 0x8400'0006,
    system_off = 0x8400'0008,
    system_reset = 0x8400'0009,
    features = 0x8400'000a,
};

/// Answers (5.2.2, table 6) in r0.
inline constexpr std::uint32_t success = 0;
inline constexpr auto not_supported = static_cast<std::uint32_t>(-1);
inline constexpr auto invalid_parameters = static_cast<std::uint32_t>(-2);
inline constexpr auto already_on = static_cast<std::uint32_t>(-4);
inline constexpr auto on_pending = static_cast<std::uint32_t>(-5);

/// Bit of CPU_SUSPEND's power state (5.4.2.1): the CPU resumes at an entry address, not after the
/// call.
inline constexpr std::uint32_t state_powers_down = 1u << 16;

/// The conduit of the guest's calls: `method` of the device tree's node (Linux: arm/psci.yaml).
enum class Conduit { none, hvc, smc };

} // namespace mmioscope::psci
