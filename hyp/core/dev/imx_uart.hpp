// The hypervisor's UART if it is one of the i.MX family: transmit only, polled with a limit.
#pragma once

#include "base/print.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

class ImxUart : public TextSink {
public:
    ImxUart(PhysicalAddress base, OwnBus& bus) : base_(base), bus_(bus) {}

    /// Turns UART and transmitter on, with 8 data bits and without interrupts; the baud rate stays
    /// as the firmware set it.
    void start();
    /// Waits for room for a limited time; then drops the character.
    void put(char c) override;

private:
    PhysicalAddress base_;
    OwnBus& bus_;
};

} // namespace mmioscope
