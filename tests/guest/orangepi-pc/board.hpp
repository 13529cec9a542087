// orangepi-pc: addresses. The comments name the device tree's nodes.
#pragma once

#include "types.hpp"

namespace guest {

inline constexpr u32 ram = 0x4000'0000;
inline constexpr u32 ram_mib = 1024;
inline constexpr u32 console = 0x01c2'8000;        // serial@1c28000, an 8250
inline constexpr u32 console_status = 0x14;        // LSR
inline constexpr u32 console_status_bit = 1u << 5; // THRE
inline constexpr u32 console_busy = 0;
inline constexpr u32 hyp_uart = 0x01c2'8400;    // serial@1c28400
inline constexpr u32 stream_uart = 0x01c2'8800; // serial@1c28800
inline constexpr u32 other_uart = 0x01c2'8c00;  // serial@1c28c00
inline constexpr u32 gic_distributor = 0x01c8'1000;
inline constexpr u32 gic_interface = 0x01c8'2000;

/// 32 words that keep what is written to them, without other effects: priorities of unused shared
/// interrupts. Narrower accesses read or write single bytes.
inline constexpr u32 palette = gic_distributor + 0x420;

/// In no node: the bus returns an error.
inline constexpr u32 aborting = 0x0200'0000;

/// Firmware answers SMC.
inline constexpr bool has_firmware = true;

/// PSCI's conduit: that of U-Boot.
#define GUEST_CONDUIT ".arch_extension sec\n\tsmc #0"

/// Starts CPU `number` at `entry`, with its MMU off.
void start_cpu_at(u32 number, u32 entry);
[[noreturn]] void power_off();
[[noreturn]] void reset();

} // namespace guest
