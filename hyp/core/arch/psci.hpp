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

/// Identifiers of PSCI 0.1, which have no fixed values: the device tree names them (Linux:
/// arm/psci.yaml). 0: no such function.
struct NamedFunctions {
    std::uint32_t cpu_suspend{};
    std::uint32_t cpu_off{};
    std::uint32_t cpu_on{};

    /// The function that the guest means by `id`.
    constexpr Function function(std::uint32_t id) const {
        if (id == 0) return Function{};
        if (id == cpu_suspend) return Function::cpu_suspend;
        if (id == cpu_off) return Function::cpu_off;
        if (id == cpu_on) return Function::cpu_on;
        return static_cast<Function>(id);
    }
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
