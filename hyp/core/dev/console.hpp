// The UART for the hypervisor's own messages, of any model: transmit only, polled with a limit.
#pragma once

#include "base/print.hpp"
#include "board/uart.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

class Console : public TextSink {
public:
    Console(const Uart& at, OwnBus& bus) : at_(at), bus_(bus) {}

    /// Sets 8 data bits and turns FIFOs and transmitter on; the baud rate stays as the firmware set
    /// it.
    void start();
    /// Waits for room for a limited time; then drops the character.
    void put(char c) override;

private:
    Uart at_;
    OwnBus& bus_;
};

} // namespace mmioscope
