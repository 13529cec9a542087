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
    /// Waits for room for a limited time; then drops the character. From then on each character is
    /// tried once: a UART whose clock is off must not make a report take minutes.
    void put(char c) override;

private:
    Uart at_;
    OwnBus& bus_;
    bool dead_{}; ///< a character was dropped
};

} // namespace mmioscope
