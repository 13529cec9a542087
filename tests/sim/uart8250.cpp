#include "uart8250.hpp"

#include "scheduler.hpp"

namespace mmioscope::sim {

namespace {
constexpr unsigned ier = 1, fcr = 2, lcr = 3, lsr = 5;
constexpr std::uint8_t divisor_latch = 0x80; // LCR.DLAB
} // namespace

unsigned Uart8250Model::number(std::uint64_t offset, unsigned log2_size) const {
    const std::uint64_t number = offset >> reg_shift_;
    if (log2_size != log2_width_ || number << reg_shift_ != offset || number >= registers.size())
        throw Failure{"an access to an 8250 that is none of its registers, or of another width"};
    return static_cast<unsigned>(number);
}

std::uint64_t Uart8250Model::read(std::uint64_t offset, unsigned log2_size) {
    switch (number(offset, log2_size)) {
    case fcr: return fifo_on() ? 0xc1 : 0x01; // IIR: no interrupt
    case lsr: ++status_reads; return waiting_.empty() ? 0x60 : 0x00;
    default: return 0;
    }
}

void Uart8250Model::write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) {
    const unsigned n = number(offset, log2_size);
    const auto byte = static_cast<std::uint8_t>(value);
    if (n <= ier && (registers[lcr] & divisor_latch) != 0) {
        divisor = n == 0 ? (divisor & 0xff00u) | byte : (divisor & 0xffu) | byte << 8u;
    } else if (n == 0) {
        if (waiting_.size() == depth()) ++overruns;
        else waiting_.push_back(byte);
    } else {
        registers[n] = byte;
        if (n == fcr && (byte & 4) != 0) waiting_.clear();
    }
}

void Uart8250Model::send() {
    if (waiting_.empty()) return;
    sent.push_back(waiting_.front());
    waiting_.pop_front();
}

} // namespace mmioscope::sim
