// An 8250 or 16550A: its transmitter, and a reader at the other end of the line who may stall.
// Fails if a byte is written without room for it.
#pragma once

#include "bus.hpp"

#include <deque>

namespace mmioscope::sim {

class Uart8250Model : public Device {
public:
    /// `fifo`: size of its transmit FIFO in bytes; 0: none.
    Uart8250Model(unsigned fifo, unsigned reg_shift, unsigned log2_width)
        : fifo_(fifo), reg_shift_(reg_shift), log2_width_(log2_width) {}

    std::uint64_t read(std::uint64_t offset, unsigned log2_size) override;
    void write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) override;

    /// The line takes a byte, if there is one.
    void send();

    std::vector<std::uint8_t> sent;
    unsigned overruns{}; ///< bytes written without room
    unsigned status_reads{};
    unsigned divisor{};
    std::vector<std::uint8_t> registers = std::vector<std::uint8_t>(8); ///< as written

private:
    unsigned number(std::uint64_t offset, unsigned log2_size) const;
    bool fifo_on() const { return fifo_ != 0 && (registers[2] & 1) != 0; }
    std::size_t depth() const { return fifo_on() ? fifo_ : 1; }

    unsigned fifo_;
    unsigned reg_shift_;
    unsigned log2_width_;
    std::deque<std::uint8_t> waiting_;
};

} // namespace mmioscope::sim
