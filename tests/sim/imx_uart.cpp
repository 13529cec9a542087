#include "imx_uart.hpp"

#include "scheduler.hpp"

namespace mmioscope::sim {

namespace {
constexpr std::uint64_t urxd = 0x00, utxd = 0x40, ucr1 = 0x80, ucr2 = 0x84, uts = 0xb4;
constexpr std::uint64_t uart_on = 1, transmitter_on = 1 << 2, receiver_on = 1 << 1;
constexpr std::uint64_t full = 1 << 4, empty = 1 << 5;
} // namespace

std::uint64_t ImxUartModel::read(std::uint64_t offset, unsigned log2_size) {
    if (log2_size != 2) throw Failure{"an access to an i.MX UART that is no word"};
    if (offset == uts) return (waiting_.size() == fifo ? full : 0) | (received.empty() ? empty : 0);
    if (offset != urxd) return registers[offset];
    if (received.empty() || (registers[ucr2] & receiver_on) == 0)
        throw Failure{"URXD is read without a byte"};
    const std::uint8_t byte = received.front();
    received.pop_front();
    return 1u << 15 | byte; // CHARRDY
}

void ImxUartModel::write(std::uint64_t offset, unsigned log2_size, std::uint64_t value) {
    if (log2_size != 2) throw Failure{"an access to an i.MX UART that is no word"};
    order.push_back(offset);
    registers[offset] = value;
    if (offset != utxd) return;
    if ((registers[ucr1] & uart_on) == 0 || (registers[ucr2] & transmitter_on) == 0)
        throw Failure{"a byte is sent while the transmitter is off"};
    if (waiting_.size() == fifo) throw Failure{"a byte is sent without room"};
    waiting_.push_back(static_cast<std::uint8_t>(value));
}

void ImxUartModel::send() {
    if (waiting_.empty()) return;
    sent.push_back(waiting_.front());
    waiting_.pop_front();
}

} // namespace mmioscope::sim
