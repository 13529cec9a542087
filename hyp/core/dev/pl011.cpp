#include "dev/pl011.hpp"

namespace mmioscope {

namespace {
// Register offsets and bits (DDI 0183 chapter 3).
constexpr std::uint64_t uartdr = 0x00;
constexpr std::uint64_t uartfr = 0x18;
constexpr std::uint64_t uartlcr_h = 0x2c;
constexpr std::uint64_t uartcr = 0x30;
constexpr std::uint32_t fr_txff = 1u << 5;
constexpr std::uint32_t lcr_fifo_8bit = (3u << 5) | (1u << 4);
constexpr std::uint32_t cr_transmit = (1u << 8) | 1u;

/// At 115,200 baud a character takes 87 us; a register read takes at least 10 ns.
constexpr unsigned max_polls = 100'000;
} // namespace

void Pl011::start() {
    bus_.write(base_ + uartlcr_h, lcr_fifo_8bit);
    bus_.write(base_ + uartcr, cr_transmit);
}

void Pl011::put(char c) {
    for (unsigned i = 0; (bus_.read(base_ + uartfr) & fr_txff) != 0; ++i)
        if (i == max_polls) return;
    bus_.write(base_ + uartdr, static_cast<unsigned char>(c));
}

} // namespace mmioscope
