// QEMU's generic virtual platform (docs/system/arm/virt.rst) with a Cortex-A15 and a GICv2.
#include "board/board.hpp"

namespace mmioscope {

namespace {
BoardEvent no_event(PhysicalAddress, std::uint64_t) {
    return {};
}
} // namespace

const Board board{
    .name = "virt",
    .compatible = "linux,dummy-virt",
    .uart = {UartModel::pl011, {0x0900'0000}},
    .uart_clock = 24'000'000,
    .uart_is_guests = true,
    .gic_distributor = {0x0800'0000},
    .gic_cpu_interface = {0x0801'0000},
    .machine_registers = {},
    .psci = true,
    .unassigned = Unassigned::aborts,
    .user_firewall = false,
    .event_of = no_event,
};

} // namespace mmioscope
