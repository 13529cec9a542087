#include "stream/imx_line.hpp"

#include "dev/imx_uart_registers.hpp"
#include "stream/uart_registers.hpp"

#include <algorithm>

namespace mmioscope {

using namespace imx_uart;

// The rate is clock / 16 * (UBIR + 1) / (UBMR + 1); UBIR is written first (IMX7DRM 15.2.8).
void ImxLine::start(std::uint32_t clock, std::uint32_t baud) {
    constexpr std::uint32_t most = 0x1'0000;
    const std::uint32_t divisor = std::clamp((clock + baud / 2) / baud, std::uint32_t{1}, most);
    write_register(at_, control_1, 0);
    write_register(at_, control_2, ucr2_both_ways);
    write_register(at_, control_3, ucr3_muxed_input);
    write_register(at_, control_4, ucr4_cts_level);
    write_register(at_, fifo_control,
                   (read_register(at_, fifo_control) & ufcr_dte) | ufcr_levels | ufcr_undivided);
    write_register(at_, numerator, 16 - 1);
    write_register(at_, denominator, divisor - 1);
    write_register(at_, control_1, ucr1_on);
}

bool ImxLine::put(std::uint8_t byte) {
    if ((read_register(at_, fifo_status) & uts_full) != 0) return false;
    write_register(at_, transmitter, byte);
    return true;
}

bool ImxLine::put_alone(std::uint8_t byte) {
    if ((read_register(at_, fifo_status) & uts_all_sent) == 0) return false;
    write_register(at_, transmitter, byte);
    return true;
}

std::optional<std::uint8_t> ImxLine::get() {
    if ((read_register(at_, fifo_status) & uts_empty) != 0) return std::nullopt;
    return static_cast<std::uint8_t>(read_register(at_, receiver));
}

} // namespace mmioscope
