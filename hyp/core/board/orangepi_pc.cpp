// Xunlong Orange Pi PC: Allwinner H3 with four Cortex-A7 (H3 data sheet 1.2, chapter 4), as QEMU
// models it. A boot loader (U-Boot) starts the image in Hyp, with PSCI firmware below. The H3's
// watchdog, which can reset it, is not modelled, so no register of the board is known to end the
// machine.
#include "board/board.hpp"

namespace mmioscope {

namespace {
BoardEvent no_event(PhysicalAddress, std::uint64_t) {
    return {};
}
} // namespace

const Board board{
    .name = "orangepi-pc",
    .compatible = "xunlong,orangepi-pc",
    .uart = {UartModel::uart8250, {0x01c2'8400}, 2, 2}, // UART1; the guest's console is UART0
    .uart_clock = 24'000'000,
    .uart_is_guests = false,
    .gic_distributor = {0x01c8'1000},
    .gic_cpu_interface = {0x01c8'2000},
    .machine_registers = {},
    .psci = true,
    .unassigned = Unassigned::aborts,
    .user_firewall = false,
    .event_of = no_event,
};

} // namespace mmioscope
