// virt: where things are. The comments name the device tree's nodes.
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

/// 32 words that hold what was written to them, with no other effect: the priorities of shared
/// interrupts nobody enables. A narrower access reads or writes its own bytes.
inline constexpr u32 palette = gic_distributor + 0x480;

/// In a device of the tree, behind its registers: the bus answers with an error.
inline constexpr u32 aborting = gic_distributor + 0x2000;

/// Firmware answers HVC.
inline constexpr bool has_firmware = true;

/// PSCI's conduit: the one of a machine without Hyp.
#define GUEST_CONDUIT ".arch_extension virt\n\thvc #0"

/// Starts CPU `number` at `entry`, its MMU off.
void start_cpu_at(u32 number, u32 entry);
[[noreturn]] void power_off();

} // namespace guest
