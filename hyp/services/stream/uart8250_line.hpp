// A 16550A or a descendant (such as snps,dw-apb-uart), or an 8250 or 16450 without FIFOs, as a
// line: never waits.
//
// Like those of a PL011 (stream/pl011_line.hpp), its accesses make no record.
#pragma once

#include "board/uart.hpp"
#include "stream/line.hpp"

namespace mmioscope {

class Uart8250Line : public Line {
public:
    Uart8250Line() = default;
    explicit Uart8250Line(const Uart& at) : at_(at) {}

    /// Sets 8 data bits and `baud` bits a second from a clock of `clock` Hz; turns FIFOs on, if it
    /// has them, and interrupts off.
    void start(std::uint32_t clock, std::uint32_t baud);
    bool put(std::uint8_t byte) override;
    std::optional<std::uint8_t> get() override;

private:
    Uart at_{};
    unsigned depth_{1}; ///< bytes in the transmit FIFO
    unsigned room_{};   ///< bytes that still fit in it for certain
};

} // namespace mmioscope
