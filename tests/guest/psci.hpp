// Calls to the firmware (Arm DEN 0022), by number.
#pragma once

#include "types.hpp"

namespace guest::psci {

// Functions (5.1), in the 32-bit and the 64-bit calling convention.
inline constexpr u32 convention_64 = 0x4000'0000;
inline constexpr u32 first_function = 0x8400'0000;
inline constexpr u32 functions = 0x20;

/// Whether it would end the machine or this CPU, or start another one.
inline bool is_final(u32 function, u32 argument) {
    enum : u32 { cpu_suspend = 1, cpu_off = 2, cpu_on = 3, system_off = 8, system_reset = 9 };
    switch ((function & ~convention_64) - first_function) {
    case cpu_off:
    case system_off:
    case system_reset: return true;
    case cpu_suspend: return (argument & 0xfffe'0000) == 0; // any other state is invalid
    case cpu_on: return argument == 1;
    default: return false;
    }
}

} // namespace guest::psci
