#include "stream/pl011_line.hpp"

#include "port/device.hpp"

namespace mmioscope {

namespace {
// Register offsets and bits (DDI 0183 chapter 3).
constexpr std::uint64_t uartdr = 0x00;
constexpr std::uint64_t uartfr = 0x18;
constexpr std::uint64_t uartibrd = 0x24;
constexpr std::uint64_t uartfbrd = 0x28;
constexpr std::uint64_t uartlcr_h = 0x2c;
constexpr std::uint64_t uartcr = 0x30;
constexpr std::uint64_t uartimsc = 0x38;
constexpr std::uint32_t fr_txfe = 1u << 7;
constexpr std::uint32_t fr_txff = 1u << 5;
constexpr std::uint32_t fr_rxfe = 1u << 4;
constexpr std::uint32_t lcr_fifo_8bit = (3u << 5) | (1u << 4);
constexpr std::uint32_t cr_both_ways = (1u << 9) | (1u << 8) | 1u;
constexpr unsigned log2_word = 2;
} // namespace

void Pl011Line::start(std::uint32_t clock, std::uint32_t baud) {
    // The divisor is clock / (16 * baud), in 64ths; it takes effect when LCR_H is written (3.3.6).
    const std::uint32_t divisor = (4 * clock + baud / 2) / baud;
    port::device_write(base_ + uartcr, log2_word, 0);
    port::device_write(base_ + uartimsc, log2_word, 0);
    port::device_write(base_ + uartibrd, log2_word, divisor >> 6);
    port::device_write(base_ + uartfbrd, log2_word, divisor & 63);
    port::device_write(base_ + uartlcr_h, log2_word, lcr_fifo_8bit);
    port::device_write(base_ + uartcr, log2_word, cr_both_ways);
}

bool Pl011Line::put(std::uint8_t byte) {
    const std::uint64_t flags = port::device_read(base_ + uartfr, log2_word);
    if ((flags & (shared_ ? fr_txfe : fr_txff)) != (shared_ ? fr_txfe : 0)) return false;
    port::device_write(base_ + uartdr, log2_word, byte);
    return true;
}

std::optional<std::uint8_t> Pl011Line::get() {
    if ((port::device_read(base_ + uartfr, log2_word) & fr_rxfe) != 0) return std::nullopt;
    return static_cast<std::uint8_t>(port::device_read(base_ + uartdr, log2_word));
}

} // namespace mmioscope
