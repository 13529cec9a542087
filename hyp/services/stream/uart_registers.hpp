// The registers of a UART, as its device tree node describes their places and width.
#pragma once

#include "board/uart.hpp"
#include "port/device.hpp"

namespace mmioscope {

inline std::uint32_t read_register(const Uart& at, unsigned number) {
    return static_cast<std::uint32_t>(
        port::device_read(register_address(at, number), at.log2_width));
}

inline void write_register(const Uart& at, unsigned number, std::uint32_t value) {
    port::device_write(register_address(at, number), at.log2_width, value);
}

} // namespace mmioscope
