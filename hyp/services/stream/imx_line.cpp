#include "stream/imx_line.hpp"

#include "dev/imx_uart_registers.hpp"
#include "port/device.hpp"

#include <algorithm>

namespace mmioscope {

using namespace imx_uart;

// The rate is clock / 16 * (UBIR + 1) / (UBMR + 1); UBIR is written first (IMX7DRM 15.2.8).
void ImxLine::start(std::uint32_t clock, std::uint32_t baud) {
    constexpr std::uint32_t most = 0x1'0000;
    const std::uint32_t divisor = std::clamp((clock + baud / 2) / baud, std::uint32_t{1}, most);
    write(control_1, 0);
    write(control_2, ucr2_both_ways);
    write(control_3, ucr3_muxed_input);
    write(control_4, ucr4_cts_level);
    write(fifo_control, (read(fifo_control) & ufcr_dte) | ufcr_levels | ufcr_undivided);
    write(numerator, 16 - 1);
    write(denominator, divisor - 1);
    write(control_1, ucr1_on);
}

bool ImxLine::put(std::uint8_t byte) {
    if ((read(fifo_status) & uts_full) != 0) return false;
    write(transmitter, byte);
    return true;
}

std::optional<std::uint8_t> ImxLine::get() {
    if ((read(fifo_status) & uts_empty) != 0) return std::nullopt;
    return static_cast<std::uint8_t>(read(receiver));
}

std::uint32_t ImxLine::read(unsigned number) {
    return static_cast<std::uint32_t>(
        port::device_read(register_address(at_, number), at_.log2_width));
}

void ImxLine::write(unsigned number, std::uint32_t value) {
    port::device_write(register_address(at_, number), at_.log2_width, value);
}

} // namespace mmioscope
