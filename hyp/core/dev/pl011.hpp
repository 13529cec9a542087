// The hypervisor's UART: an ARM PL011 (DDI 0183), transmit only, polled with a bound.
#pragma once

#include "base/print.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

class Pl011 : public TextSink {
public:
    Pl011(PhysicalAddress base, OwnBus& bus) : base_(base), bus_(bus) {}

    /// Sets 8 data bits and turns FIFOs and transmitter on; the baud rate stays as the firmware set
    /// it.
    void start();
    /// Waits for room for a limited time; then drops the character.
    void put(char c) override;

private:
    PhysicalAddress base_;
    OwnBus& bus_;
};

} // namespace mmioscope
