// A UART: what it is and where, from the board or the device tree (dt/uart.hpp).
#pragma once

#include "base/address.hpp"

namespace mmioscope {

enum class UartModel : std::uint8_t {
    pl011,    ///< ARM PL011 (DDI 0183)
    uart8250, ///< 8250, 16550A and descendants
};

struct Uart {
    UartModel model{UartModel::pl011};
    PhysicalAddress base{};
    std::uint8_t reg_shift{};   ///< 8250: register n is at base + (n << reg_shift)
    std::uint8_t log2_width{2}; ///< of each access to a register
};

} // namespace mmioscope
