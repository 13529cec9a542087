// A UART of either model as a line.
#pragma once

#include "stream/pl011_line.hpp"
#include "stream/uart8250_line.hpp"

namespace mmioscope {

class UartLine {
public:
    static constexpr bool drives(UartModel model) {
        return model == UartModel::pl011 || model == UartModel::uart8250;
    }

    UartLine() = default;
    /// `shared` with the guest's driver: only a PL011. The driver of an 8250 fills the FIFO as soon
    /// as the UART reports that it is empty.
    explicit UartLine(const Uart& at, bool shared = false)
        : model_(at.model), clock_(at.clock), pl011_(at.base, shared), uart8250_(at) {}

    /// Starts the line at `baud` bits a second.
    Line& start(std::uint32_t baud) {
        if (model_ == UartModel::pl011) {
            pl011_.start(clock_, baud);
            return pl011_;
        }
        uart8250_.start(clock_, baud);
        return uart8250_;
    }

private:
    UartModel model_{};
    std::uint32_t clock_{};
    Pl011Line pl011_;
    Uart8250Line uart8250_;
};

} // namespace mmioscope
