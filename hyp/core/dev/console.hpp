// The UART for the hypervisor's own messages, of either model.
#pragma once

#include "dev/pl011.hpp"
#include "dev/uart8250.hpp"

namespace mmioscope {

class Console : public TextSink {
public:
    Console(const Uart& at, OwnBus& bus)
        : model_(at.model), pl011_(at.base, bus), uart8250_(at, bus) {}

    /// Sets 8 data bits and turns FIFOs and transmitter on; the baud rate stays as the firmware set
    /// it.
    void start() { model_ == UartModel::pl011 ? pl011_.start() : uart8250_.start(); }
    /// Waits for room for a limited time; then drops the character.
    void put(char c) override { model_ == UartModel::pl011 ? pl011_.put(c) : uart8250_.put(c); }

private:
    UartModel model_;
    Pl011 pl011_;
    Uart8250 uart8250_;
};

} // namespace mmioscope
