// The hypervisor's UART if it is an 8250 or a descendant: transmit only, polled with a limit.
#pragma once

#include "base/print.hpp"
#include "board/uart.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

class Uart8250 : public TextSink {
public:
    Uart8250(const Uart& at, OwnBus& bus) : at_(at), bus_(bus) {}

    /// Sets 8 data bits and turns FIFOs on and interrupts off; the baud rate stays as the firmware
    /// set it.
    void start();
    /// Waits for room for a limited time; then drops the character.
    void put(char c) override;

private:
    Uart at_;
    OwnBus& bus_;
};

} // namespace mmioscope
