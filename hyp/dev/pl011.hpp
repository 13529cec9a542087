// The hypervisor's UART: an ARM PL011 (DDI 0183), transmit only, polled with a bound.
#pragma once

#include "base/print.hpp"
#include "dev/own_bus.hpp"

namespace mmioscope {

class Pl011 : public TextSink {
public:
    Pl011(PhysicalAddress base, OwnBus& bus) : base_(base), bus_(bus) {}

    /// 8 data bits, FIFOs on, transmitter on; the baud rate stays the firmware's.
    void start();
    /// Waits a bounded while for room; a character for which there is none is dropped.
    void put(char c) override;

private:
    PhysicalAddress base_;
    OwnBus& bus_;
};

} // namespace mmioscope
