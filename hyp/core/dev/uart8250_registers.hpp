// The registers of a 16550A (TL16C550C data sheet, section 8), which include those of an 8250.
#pragma once

#include <cstdint>

namespace mmioscope::uart8250 {

inline constexpr unsigned data = 0;           ///< THR; with LCR.DLAB the divisor's low byte
inline constexpr unsigned interrupts = 1;     ///< IER; with LCR.DLAB the divisor's high byte
inline constexpr unsigned fifo_control = 2;   ///< FCR, write only
inline constexpr unsigned identification = 2; ///< IIR, read only
inline constexpr unsigned line_control = 3;   ///< LCR
inline constexpr unsigned modem_control = 4;  ///< MCR
inline constexpr unsigned line_status = 5;    ///< LSR

inline constexpr std::uint32_t fcr_on_and_clear = 7;
inline constexpr std::uint32_t iir_fifos_on = 0xc0;
inline constexpr std::uint32_t lcr_8bit = 3;
inline constexpr std::uint32_t lcr_divisor = 0x80;
inline constexpr std::uint32_t mcr_ready = 3; ///< DTR and RTS
inline constexpr std::uint32_t lsr_data_ready = 1u << 0;
/// With FIFOs: the whole transmit FIFO is empty.
inline constexpr std::uint32_t lsr_thr_empty = 1u << 5;

} // namespace mmioscope::uart8250
