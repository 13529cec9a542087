// virt: addresses. The comments name the device tree's nodes.
#pragma once

#include "types.hpp"

namespace guest {

inline constexpr u32 ram = 0x4000'0000;
inline constexpr u32 ram_mib = 2048;
inline constexpr u32 console = 0x0900'0000;        // pl011@9000000
inline constexpr u32 console_status = 0x18;        // UARTFR
inline constexpr u32 console_status_bit = 1u << 5; // TXFF
inline constexpr u32 console_busy = console_status_bit;
inline constexpr u32 control_page = 0x48f0'0000;   // of the hypervisor, at 0x48000000
inline constexpr u32 gic_distributor = 0x0800'0000;
inline constexpr u32 gic_interface = 0x0801'0000;

/// 32 words that keep what is written to them, without other effects: priorities of unused shared
/// interrupts. Narrower accesses read or write single bytes.
inline constexpr u32 palette = gic_distributor + 0x480;

/// In a device of the tree, after its registers: the bus returns an error.
inline constexpr u32 aborting = gic_distributor + 0x2000;

/// Firmware answers HVC.
inline constexpr bool has_firmware = true;

/// PSCI's conduit: that of a machine without Hyp.
#define GUEST_CONDUIT ".arch_extension virt\n\thvc #0"

/// Starts CPU `number` at `entry`, with its MMU off.
void start_cpu_at(u32 number, u32 entry);
[[noreturn]] void power_off();
[[noreturn]] void reset();

} // namespace guest
