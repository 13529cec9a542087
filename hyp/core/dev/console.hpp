// The UART for the hypervisor's own messages, of any model.
#pragma once

#include "dev/imx_uart.hpp"
#include "dev/pl011.hpp"
#include "dev/uart8250.hpp"

namespace mmioscope {

class Console : public TextSink {
public:
    Console(const Uart& at, OwnBus& bus)
        : model_(at.model), pl011_(at.base, bus), uart8250_(at, bus), imx_(at.base, bus) {}

    /// Sets 8 data bits and turns FIFOs and transmitter on; the baud rate stays as the firmware set
    /// it.
    void start() {
        switch (model_) {
        case UartModel::none: return;
        case UartModel::pl011: return pl011_.start();
        case UartModel::uart8250: return uart8250_.start();
        case UartModel::imx: return imx_.start();
        }
    }
    /// Waits for room for a limited time; then drops the character.
    void put(char c) override {
        switch (model_) {
        case UartModel::none: return;
        case UartModel::pl011: return pl011_.put(c);
        case UartModel::uart8250: return uart8250_.put(c);
        case UartModel::imx: return imx_.put(c);
        }
    }

private:
    UartModel model_;
    Pl011 pl011_;
    Uart8250 uart8250_;
    ImxUart imx_;
};

} // namespace mmioscope
