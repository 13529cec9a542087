// A PL011 (DDI 0183) as a line: never waiting, without interrupts.
//
// Its accesses are the only ones that make no record: what is sent *is* the records, so that each
// would make more of them (abi::region_stream).
#pragma once

#include "base/address.hpp"
#include "dev/line.hpp"

namespace mmioscope {

class Pl011Line : public Line {
public:
    Pl011Line() = default;
    /// `shared` with the guest's driver, which fills half of the FIFO without asking when it was
    /// told that it is half empty: then a byte goes only into an empty FIFO, and what comes in is
    /// the guest's.
    explicit Pl011Line(PhysicalAddress base, bool shared = false) : base_(base), shared_(shared) {}

    /// 8 data bits, FIFOs on, transmitter and receiver on, at `baud` bits a second from a clock of
    /// `clock` Hz.
    void start(std::uint32_t clock, std::uint32_t baud);
    bool put(std::uint8_t byte) override;
    /// A byte with a parity, framing or overrun error is what it is: a request's check tells.
    std::optional<std::uint8_t> get() override;

private:
    PhysicalAddress base_{};
    bool shared_{};
};

} // namespace mmioscope
