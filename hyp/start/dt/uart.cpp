#include "dt/uart.hpp"

namespace mmioscope {

namespace {

/// Where the node with `phandle` begins, if it is compatible with `with` and has `size` bytes.
std::optional<PhysicalAddress> registers_of(const Tree& tree, std::uint32_t phandle,
                                            const char* with, std::uint32_t size) {
    Range range;
    for (int node = 0; node < tree.count(); ++node)
        if (tree.compatible(node, {with}) && tree.cell(node, "phandle", 0) == phandle &&
            tree.reg(node, 0, range) && range.size() >= size)
            return PhysicalAddress{range.begin};
    return {};
}

/// The bit of `uart` in the register that `row` describes; nothing: it has none there.
std::optional<KeptBit> bit_of(const Tree& tree, int uart, const UartBits& row) {
    const Property named = tree.property(uart, row.property); // a phandle and an id
    if (named.size != 8 || named.cell(1) - row.first_id >= row.uarts) return {};
    const auto begin = registers_of(tree, named.cell(0), row.compatible, row.offset + 4);
    if (!begin) return {};
    const std::uint32_t bit = row.first_bit + named.cell(1) - row.first_id;
    return KeptBit{*begin + row.offset, 0, static_cast<std::uint8_t>(bit)};
}

bool is_8250(const Tree& tree, int node) {
    return tree.compatible(node, {"snps,dw-apb-uart", "ns16550a", "ns16550", "ns16450", "ns8250"});
}

} // namespace

std::optional<Uart> uart_of(const Tree& tree, int node) {
    Range range;
    if (!tree.reg(node, 0, range)) return {};
    const std::uint32_t clock = tree.cell(node, "clock-frequency", Uart{}.clock);
    if (tree.compatible(node, {"arm,pl011"}))
        return Uart{UartModel::pl011, {range.begin}, 0, 2, clock};
    if (tree.compatible(node, {"fsl,imx6q-uart", "fsl,imx21-uart"}))
        return Uart{UartModel::imx, {range.begin}, 0, 2, clock};
    if (!is_8250(tree, node)) return {};
    const std::uint32_t shift = tree.cell(node, "reg-shift", 0);
    const std::uint32_t width = tree.cell(node, "reg-io-width", 1);
    constexpr std::uint32_t registers = 8;
    if (shift > 4 || (width != 1 && width != 2 && width != 4) || range.size() < registers << shift)
        return {};
    return Uart{UartModel::uart8250,
                {range.begin},
                static_cast<std::uint8_t>(shift),
                static_cast<std::uint8_t>(width == 4 ? 2 : width - 1),
                clock};
}

bool keep_uarts(const Tree& tree, std::span<const int> uarts, RegionMap& map, KeptBits& out) {
    for (const int uart : uarts) {
        Range range;
        const Span* span = tree.reg(uart, 0, range) ? map.find({range.begin}) : nullptr;
        if (span == nullptr) continue;
        const std::uint16_t region = span->region;
        for (const UartBits* row = uart_bits; row->compatible != nullptr; ++row) {
            auto kept = bit_of(tree, uart, *row);
            if (!kept) continue;
            kept->region = region;
            const std::uint64_t address = kept->address.value;
            if (!out.push_back(*kept) || !map.trap_always({address, address + 4})) return false;
        }
    }
    return true;
}

} // namespace mmioscope
