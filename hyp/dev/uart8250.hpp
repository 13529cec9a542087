// The hypervisor's UART where it is an 8250 or a descendant: transmit only, polled with a bound.
#pragma once

#include "base/print.hpp"
#include "board/uart.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

class Uart8250 : public TextSink {
public:
    Uart8250(const Uart& at, OwnBus& bus) : at_(at), bus_(bus) {}

    /// 8 data bits, FIFOs on, no interrupts; the baud rate stays the firmware's.
    void start();
    /// Waits a bounded while for room; a character for which there is none is dropped.
    void put(char c) override;

private:
    Uart at_;
    OwnBus& bus_;
};

} // namespace mmioscope
