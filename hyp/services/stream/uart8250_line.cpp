#include "stream/uart8250_line.hpp"

#include "dev/uart8250_registers.hpp"
#include "port/device.hpp"

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
    write(line_control, lcr_8bit);
    write(interrupts, 0);
    write(line_control, lcr_8bit | lcr_divisor);
    write(data, divisor & 0xff);
    write(interrupts, divisor >> 8);
    write(line_control, lcr_8bit);
    write(fifo_control, fcr_on_and_clear);
    write(modem_control, mcr_ready);
    depth_ = (read(identification) & iir_fifos_on) == iir_fifos_on ? least_fifo : 1;
    room_ = 0;
}

bool Uart8250Line::put(std::uint8_t byte) {
    if (room_ == 0 && (read(line_status) & lsr_thr_empty) != 0) room_ = depth_;
    if (room_ == 0) return false;
    --room_;
    write(data, byte);
    return true;
}

std::optional<std::uint8_t> Uart8250Line::get() {
    if ((read(line_status) & lsr_data_ready) == 0) return std::nullopt;
    return static_cast<std::uint8_t>(read(data));
}

std::uint32_t Uart8250Line::read(unsigned number) {
    return static_cast<std::uint32_t>(
        port::device_read(register_address(at_, number), at_.log2_width));
}

void Uart8250Line::write(unsigned number, std::uint32_t value) {
    port::device_write(register_address(at_, number), at_.log2_width, value);
}

} // namespace mmioscope
