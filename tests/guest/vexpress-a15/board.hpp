// vexpress-a15: addresses. The comments name the device tree's nodes.
#pragma once

#include "types.hpp"

namespace guest {

inline constexpr u32 ram = 0x8000'0000;
inline constexpr u32 ram_mib = 2048;
inline constexpr u32 console = 0x1c09'0000;        // serial@90000, a PL011
inline constexpr u32 console_status = 0x18;        // UARTFR
inline constexpr u32 console_status_bit = 1u << 5; // TXFF
inline constexpr u32 console_busy = console_status_bit;
inline constexpr u32 hyp_uart = 0x1c0a'0000;     // serial@a0000
inline constexpr u32 clcd = 0x1c1f'0000;         // clcd@1f0000
inline constexpr u32 control_page = 0x88f0'0000; // of the hypervisor, at 0x88000000
inline constexpr u32 gic_distributor = 0x2c00'1000;
inline constexpr u32 gic_interface = 0x2c00'2000;

/// 128 words that keep what is written to them, without other effects: the palette of the PL111.
/// Narrower accesses read or write the low bits of the whole word.
inline constexpr u32 palette = clcd + 0x200;

/// Nothing aborts on this board.
inline constexpr u32 aborting = 0;

/// No firmware answers HVC or SMC.
inline constexpr bool has_firmware = false;

/// Starts CPU `number` (only 1 exists) at `entry`, with its MMU off.
void start_cpu_at(u32 number, u32 entry);
[[noreturn]] void power_off();
[[noreturn]] void reset();

} // namespace guest
