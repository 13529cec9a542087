// The UART that the hypervisor's own words go to, whichever model it is.
#pragma once

#include "dev/pl011.hpp"
#include "dev/uart8250.hpp"

namespace mmioscope {

class Console : public TextSink {
public:
    Console(const Uart& at, OwnBus& bus)
        : model_(at.model), pl011_(at.base, bus), uart8250_(at, bus) {}

    /// 8 data bits, FIFOs on, transmitter on; the baud rate stays the firmware's.
    void start() { model_ == UartModel::pl011 ? pl011_.start() : uart8250_.start(); }
    /// Waits a bounded while for room; a character for which there is none is dropped.
    void put(char c) override { model_ == UartModel::pl011 ? pl011_.put(c) : uart8250_.put(c); }

private:
    UartModel model_;
    Pl011 pl011_;
    Uart8250 uart8250_;
};

} // namespace mmioscope
