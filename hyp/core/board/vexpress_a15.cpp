// ARM Versatile Express with the CoreTile Express A15x2 (DUI 0447, DUI 0604), as QEMU models it.
#include "board/board.hpp"

namespace mmioscope {

namespace {

constexpr PhysicalAddress sysreg{0x1c01'0000}; // motherboard system registers (DUI 0447 4.3)
constexpr std::uint64_t sys_flagsset = 0x30;
constexpr std::uint64_t sys_flagsclr = 0x34;
constexpr std::uint64_t sys_cfgctrl = 0xa4;

// The other CPUs wait until SYS_FLAGS contains an address and an interrupt wakes them. A command in
// SYS_CFGCTRL can switch the board off or reset it before the write returns.
BoardEvent event_of(PhysicalAddress address, std::uint64_t value) {
    switch (address - sysreg) {
    case sys_flagsset: return {BoardEvent::Kind::start_address_set};
    case sys_flagsclr: return {BoardEvent::Kind::start_address_clear};
    case sys_cfgctrl: {
        constexpr std::uint64_t start = 1u << 31;
        constexpr std::uint64_t write = 1u << 30;
        const auto function = (value >> 20) & 0x3f;
        constexpr std::uint64_t shutdown = 8;
        constexpr std::uint64_t reboot = 9;
        if ((value & (start | write)) != (start | write)) return {};
        if (function == shutdown) return {BoardEvent::Kind::machine_off};
        if (function == reboot) return {BoardEvent::Kind::machine_reset};
        return {};
    }
    default: return {};
    }
}

} // namespace

const Board board{
    .name = "vexpress-a15",
    .compatible = "arm,vexpress,v2p-ca15,tc1",
    .uart = {UartModel::pl011, {0x1c0a'0000}}, // UART1; the guest's console is UART0
    .uart_clock = 24'000'000,
    .uart_is_guests = false,
    .gic_distributor = {0x2c00'1000},
    .gic_cpu_interface = {0x2c00'2000},
    .machine_registers = {sysreg.value, sysreg.value + page_size},
    .psci = false,
    .unassigned = Unassigned::reads_zero,
    .user_firewall = false,
    .event_of = event_of,
};

} // namespace mmioscope
