// A UART: what it is and where, from the device tree (dt/uart.hpp).
#pragma once

#include "base/address.hpp"

namespace mmioscope {

enum class UartModel : std::uint8_t {
    none,     ///< unknown: output is dropped
    pl011,    ///< ARM PL011 (DDI 0183)
    uart8250, ///< 8250, 16550A and descendants
    imx,      ///< of the i.MX family (i.MX 7Dual Reference Manual, IMX7DRM, chapter 15.2)
};

struct Uart {
    UartModel model{UartModel::none};
    PhysicalAddress base{};
    std::uint8_t reg_shift{};   ///< 8250: see register_address(); 0 for the others
    std::uint8_t log2_width{2}; ///< of each access to a register
    /// Hz, for the baud rate: `clock-frequency`, or else that of most boards.
    std::uint32_t clock{24'000'000};
};

/// The address of register `number`; of a PL011 or i.MX, that is its offset.
constexpr PhysicalAddress register_address(const Uart& uart, unsigned number) {
    return uart.base + (std::uint64_t{number} << uart.reg_shift);
}

} // namespace mmioscope
