// A PL011 (DDI 0183) as a line: never waits, uses no interrupts.
//
// The accesses of a stream's UART are the only ones that make no record: they send the records, so
// each record would make more of them (abi::region_stream).
#pragma once

#include "base/address.hpp"
#include "stream/line.hpp"

namespace mmioscope {

class Pl011Line : public Line {
public:
    Pl011Line() = default;
    /// `shared`: the guest's driver uses the UART, too. When the FIFO is half empty, an interrupt
    /// tells the driver, and it fills half of the FIFO without looking. So put() sends only into an
    /// empty FIFO. Received bytes belong to the guest.
    explicit Pl011Line(PhysicalAddress base, bool shared = false) : base_(base), shared_(shared) {}

    /// Sets 8 data bits and `baud` bits a second from a clock of `clock` Hz; turns FIFOs,
    /// transmitter and receiver on.
    void start(std::uint32_t clock, std::uint32_t baud);
    bool put(std::uint8_t byte) override;
    /// Ignores parity, framing and overrun errors: a request's checksum detects them.
    std::optional<std::uint8_t> get() override;

private:
    PhysicalAddress base_{};
    bool shared_{};
};

} // namespace mmioscope
