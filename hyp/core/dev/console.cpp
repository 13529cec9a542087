#include "dev/console.hpp"

#include "dev/imx_uart_registers.hpp"
#include "dev/uart8250_registers.hpp"

namespace mmioscope {

namespace {

/// How one model sends a character. Registers are numbered as for register_address().
struct Registers {
    struct Write {
        unsigned number;
        std::uint32_t value;
    };
    Write start[4]; ///< in this order; those behind `starts` are not made
    unsigned starts;
    unsigned data;
    unsigned status;
    std::uint32_t mask; ///< there is room if these bits of `status` equal
    std::uint32_t room; ///< those of this word
    /// Reads of `status` until the first character is dropped. A read takes at least 10 ns.
    unsigned max_polls;
};

constexpr unsigned character_polls = 100'000; ///< at 115,200 baud a character takes 87 us
constexpr unsigned fifo_polls = 1'000'000;    ///< and a FIFO of 64 characters 5.6 ms

// DDI 0183 chapter 3: LCR_H (8 bits, FIFOs), CR (transmitter, UART); DR, FR.TXFF.
constexpr Registers pl011{
    {{0x2c, 3u << 5 | 1u << 4}, {0x30, 1u << 8 | 1u}}, 2, 0x00, 0x18, 1u << 5, 0, character_polls};

constexpr Registers an_8250{{{uart8250::line_control, uart8250::lcr_8bit},
                             {uart8250::interrupts, 0},
                             {uart8250::fifo_control, uart8250::fcr_on_and_clear},
                             {uart8250::modem_control, uart8250::mcr_ready}},
                            4,
                            uart8250::data,
                            uart8250::line_status,
                            uart8250::lsr_thr_empty,
                            uart8250::lsr_thr_empty,
                            fifo_polls};

constexpr Registers imx{
    {{imx_uart::control_1, imx_uart::ucr1_on}, {imx_uart::control_2, imx_uart::ucr2_both_ways}},
    2,
    imx_uart::transmitter,
    imx_uart::fifo_status,
    imx_uart::uts_full,
    0,
    character_polls};

/// By UartModel.
constexpr const Registers* models[] = {nullptr, &pl011, &an_8250, &imx};

const Registers* registers_of(const Uart& uart) {
    return models[static_cast<unsigned>(uart.model)];
}

} // namespace

void Console::start() {
    const Registers* uart = registers_of(at_);
    for (unsigned n = 0; uart != nullptr && n < uart->starts; ++n)
        bus_.write(register_address(at_, uart->start[n].number), uart->start[n].value,
                   at_.log2_width);
}

void Console::put(char c) {
    const Registers* uart = registers_of(at_);
    if (uart == nullptr) return;
    const PhysicalAddress status = register_address(at_, uart->status);
    const unsigned polls = dead_ ? 1 : uart->max_polls;
    if (!bus_.poll(status, uart->mask, uart->room, polls, at_.log2_width)) {
        dead_ = true;
        return;
    }
    bus_.write(register_address(at_, uart->data), static_cast<unsigned char>(c), at_.log2_width);
}

} // namespace mmioscope
