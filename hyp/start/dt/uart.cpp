#include "dt/uart.hpp"

namespace mmioscope {

namespace {

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

} // namespace mmioscope
