#include "pl011.hpp"

namespace mmioscope::sim {

namespace {
constexpr unsigned uartdr = 0x00, uartfr = 0x18;
constexpr std::uint64_t nothing_received = 1u << 4; // UARTFR.RXFE
constexpr std::uint64_t all_sent = 1u << 7;         // UARTFR.TXFE
} // namespace

std::uint64_t Pl011Model::read(std::uint64_t offset, unsigned) {
    if (offset == uartfr) return all_sent | (received.empty() ? nothing_received : 0);
    if (offset != uartdr || received.empty()) return 0;
    const std::uint8_t byte = received.front();
    received.pop_front();
    return byte;
}

void Pl011Model::write(std::uint64_t offset, unsigned, std::uint64_t value) {
    if (offset == uartdr) sent.push_back(static_cast<std::uint8_t>(value));
}

} // namespace mmioscope::sim
