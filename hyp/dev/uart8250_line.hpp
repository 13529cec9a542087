// A 16550A or a descendant (one of many: snps,dw-apb-uart) as a line: never waiting. An 8250 or a
// 16450, without FIFOs, too.
//
// As those of a PL011 (dev/pl011_line.hpp), its accesses make no record.
#pragma once

#include "board/uart.hpp"
#include "dev/line.hpp"

namespace mmioscope {

class Uart8250Line : public Line {
public:
    Uart8250Line() = default;
    explicit Uart8250Line(const Uart& at) : at_(at) {}

    /// 8 data bits, FIFOs on where there are any, no interrupts, at `baud` bits a second from a
    /// clock of `clock` Hz.
    void start(std::uint32_t clock, std::uint32_t baud);
    bool put(std::uint8_t byte) override;
    std::optional<std::uint8_t> get() override;

private:
    std::uint32_t read(unsigned number);
    void write(unsigned number, std::uint32_t value);

    Uart at_{};
    unsigned depth_{1}; ///< of the transmit FIFO
    unsigned room_{};   ///< bytes known to have room in it
};

} // namespace mmioscope
