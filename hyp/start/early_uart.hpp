// The UART that somebody gives by hand, for messages from before the device tree is read, and for
// trees that name none: in the words of Linux' `earlycon=` (kernel-parameters.txt).
#pragma once

#include "board/uart.hpp"

#include <string_view>

namespace mmioscope {

/// Not constexpr, so a call ends the compilation, which names this function.
inline void early_uart_must_be_a_model_and_an_address_as_in_earlycon() {}

namespace early {

/// Takes `word` and the comma behind it from the beginning of `text`, if it is there.
consteval bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word) || text.substr(word.size()).substr(0, 1) != ",") return false;
    text.remove_prefix(word.size() + 1);
    return true;
}

/// Up to a comma: what follows, as the baud rate, is the boot loader's.
consteval std::uint32_t address(std::string_view text) {
    text = text.substr(0, text.find(','));
    std::uint64_t number = 0;
    const bool hexadecimal = text.starts_with("0x");
    for (const char c : hexadecimal ? text.substr(2) : std::string_view()) {
        const char lower = static_cast<char>(c | 0x20);
        const bool digit = c >= '0' && c <= '9';
        if (number > UINT32_MAX || (!digit && (lower < 'a' || lower > 'f')))
            number = UINT64_MAX >> 4;
        number = number << 4 | static_cast<unsigned>(digit ? c - '0' : lower - 'a' + 10);
    }
    if (number == 0 || number > UINT32_MAX)
        early_uart_must_be_a_model_and_an_address_as_in_earlycon();
    return static_cast<std::uint32_t>(number);
}

} // namespace early

/// "pl011,ADDRESS"; "uart8250,mmio32,ADDRESS" (mmio, mmio16: registers of 1 and 2 bytes);
/// "ec_imx6q,ADDRESS"; addresses in hexadecimal. Empty: none.
consteval Uart early_uart(std::string_view text) {
    if (text.empty()) return {};
    Uart uart;
    if (early::take(text, "pl011")) uart.model = UartModel::pl011;
    else if (early::take(text, "ec_imx6q") || early::take(text, "ec_imx21"))
        uart.model = UartModel::imx;
    else if (early::take(text, "uart8250")) uart.model = UartModel::uart8250;
    else early_uart_must_be_a_model_and_an_address_as_in_earlycon();
    std::uint8_t width = 0;
    if (early::take(text, "mmio32")) width = 2;
    else if (early::take(text, "mmio16")) width = 1;
    else early::take(text, "mmio");
    if (uart.model == UartModel::uart8250) uart.reg_shift = uart.log2_width = width;
    uart.base = {early::address(text)};
    return uart;
}

} // namespace mmioscope
