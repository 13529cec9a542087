// A UART of the i.MX family as a line: never waits.
//
// Like those of a PL011 (stream/pl011_line.hpp), its accesses make no record. The guest's driver
// may use it, too: Linux' looks before each byte whether the FIFO has room.
#pragma once

#include "board/uart.hpp"
#include "stream/line.hpp"

namespace mmioscope {

class ImxLine : public Line {
public:
    ImxLine() = default;
    explicit ImxLine(const Uart& at) : at_(at) {}

    /// Sets 8 data bits and `baud` bits a second from a clock of `clock` Hz; turns transmitter and
    /// receiver on, and interrupts off.
    void start(std::uint32_t clock, std::uint32_t baud);
    bool put(std::uint8_t byte) override;
    bool put_alone(std::uint8_t byte) override;
    std::optional<std::uint8_t> get() override;

private:
    Uart at_{};
};

} // namespace mmioscope
