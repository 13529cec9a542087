// The registers of an i.MX UART (i.MX 7Dual Reference Manual, IMX7DRM, 15.2.16).
#pragma once

#include <cstdint>

namespace mmioscope::imx_uart {

inline constexpr unsigned receiver = 0x00;     ///< URXD
inline constexpr unsigned transmitter = 0x40;  ///< UTXD
inline constexpr unsigned control_1 = 0x80;    ///< UCR1: interrupts, too
inline constexpr unsigned control_2 = 0x84;    ///< UCR2
inline constexpr unsigned control_3 = 0x88;    ///< UCR3
inline constexpr unsigned control_4 = 0x8c;    ///< UCR4
inline constexpr unsigned fifo_control = 0x90; ///< UFCR
inline constexpr unsigned status_1 = 0x94;     ///< USR1
inline constexpr unsigned numerator = 0xa4;    ///< UBIR: minus 1
inline constexpr unsigned denominator = 0xa8;  ///< UBMR: minus 1; written behind UBIR
inline constexpr unsigned fifo_status = 0xb4;  ///< UTS

inline constexpr std::uint32_t ucr1_on = 1;
/// Ignores RTS; 8 bits; transmitter and receiver on; not in reset.
inline constexpr std::uint32_t ucr2_both_ways = 1u << 14 | 1u << 5 | 1u << 2 | 1u << 1 | 1u;
inline constexpr std::uint32_t ucr3_muxed_input = 1u << 2;
inline constexpr std::uint32_t ucr4_cts_level = 32u << 10;
inline constexpr std::uint32_t ufcr_dte = 1u << 6; ///< which end of the line the UART is
inline constexpr std::uint32_t ufcr_levels = 2u << 10 | 1u;
inline constexpr std::uint32_t ufcr_undivided = 5u << 7; ///< the clock
inline constexpr std::uint32_t uts_full = 1u << 4;       ///< the transmitter's FIFO
inline constexpr std::uint32_t uts_all_sent = 1u << 6;   ///< the transmitter's FIFO is empty
inline constexpr std::uint32_t uts_empty = 1u << 5;      ///< the receiver's FIFO

} // namespace mmioscope::imx_uart
