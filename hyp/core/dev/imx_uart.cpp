#include "dev/imx_uart.hpp"

namespace mmioscope {

namespace {
// Register offsets and bits (i.MX 7Dual Reference Manual, IMX7DRM, 15.2.13).
constexpr std::uint64_t utxd = 0x40;
constexpr std::uint64_t ucr1 = 0x80;
constexpr std::uint64_t ucr2 = 0x84;
constexpr std::uint64_t uts = 0xb4;
constexpr std::uint32_t ucr1_enable = 1;
/// Ignore RTS, 8 bits, transmitter and receiver on, not in reset.
constexpr std::uint32_t ucr2_transmit = 1u << 14 | 1u << 5 | 1u << 2 | 1u << 1 | 1u;
constexpr std::uint32_t uts_tx_full = 1u << 4;

/// At 115,200 baud a character takes 87 us; a register read takes at least 10 ns.
constexpr unsigned max_polls = 100'000;
} // namespace

void ImxUart::start() {
    bus_.write(base_ + ucr1, ucr1_enable);
    bus_.write(base_ + ucr2, ucr2_transmit);
}

void ImxUart::put(char c) {
    for (unsigned i = 0; (bus_.read(base_ + uts) & uts_tx_full) != 0; ++i)
        if (i == max_polls) return;
    bus_.write(base_ + utxd, static_cast<unsigned char>(c));
}

} // namespace mmioscope
