#include "stream/uart8250_line.hpp"

#include "dev/uart8250_registers.hpp"
#include "stream/uart_registers.hpp"

namespace mmioscope {

using namespace uart8250;

namespace {
constexpr unsigned least_fifo = 16; ///< bytes, if there is a FIFO; the H3's has 64
constexpr std::uint32_t max_divisor = 0xffff;
} // namespace

void Uart8250Line::start(std::uint32_t clock, std::uint32_t baud) {
    std::uint32_t divisor = (clock / 8 / baud + 1) / 2; // clock / (16 * baud), rounded
    if (divisor == 0) divisor = 1;
    if (divisor > max_divisor) divisor = max_divisor;
    write_register(at_, line_control, lcr_8bit);
    write_register(at_, interrupts, 0);
    write_register(at_, line_control, lcr_8bit | lcr_divisor);
    write_register(at_, data, divisor & 0xff);
    write_register(at_, interrupts, divisor >> 8);
    write_register(at_, line_control, lcr_8bit);
    write_register(at_, fifo_control, fcr_on_and_clear);
    write_register(at_, modem_control, mcr_ready);
    depth_ = (read_register(at_, identification) & iir_fifos_on) == iir_fifos_on ? least_fifo : 1;
    room_ = 0;
}

bool Uart8250Line::put(std::uint8_t byte) {
    if (room_ == 0 && (read_register(at_, line_status) & lsr_thr_empty) != 0) room_ = depth_;
    if (room_ == 0) return false;
    --room_;
    write_register(at_, data, byte);
    return true;
}

std::optional<std::uint8_t> Uart8250Line::get() {
    if ((read_register(at_, line_status) & lsr_data_ready) == 0) return std::nullopt;
    return static_cast<std::uint8_t>(read_register(at_, data));
}

} // namespace mmioscope
