// A UART of any model as a line.
#pragma once

#include "dev/imx_uart_registers.hpp"
#include "stream/imx_line.hpp"
#include "stream/pl011_line.hpp"
#include "stream/uart8250_line.hpp"

namespace mmioscope {

class UartLine {
public:
    /// Whether the guest's driver may use it, too. That of an 8250 fills the FIFO as soon as the
    /// UART reports that it is empty.
    static constexpr bool can_share(UartModel model) { return model != UartModel::uart8250; }

    /// The register of `uart` into which the guest's driver stores what it sends.
    static constexpr Range data_register(const Uart& uart) {
        const unsigned number = uart.model == UartModel::imx ? imx_uart::transmitter : 0;
        const std::uint64_t address = register_address(uart, number).value;
        return {address, address + (1u << uart.log2_width)};
    }

    UartLine() = default;
    explicit UartLine(const Uart& at, bool shared = false)
        : model_(at.model), clock_(at.clock), pl011_(at.base, shared), uart8250_(at), imx_(at) {}

    /// Starts the line at `baud` bits a second.
    Line& start(std::uint32_t baud) {
        switch (model_) {
        case UartModel::uart8250: return started(uart8250_, baud);
        case UartModel::imx: return started(imx_, baud);
        default: return started(pl011_, baud);
        }
    }

private:
    template <typename Model>
    Line& started(Model& line, std::uint32_t baud) {
        line.start(clock_, baud);
        return line;
    }

    UartModel model_{};
    std::uint32_t clock_{};
    Pl011Line pl011_;
    Uart8250Line uart8250_;
    ImxLine imx_;
};

} // namespace mmioscope
