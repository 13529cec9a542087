#include "board/board.hpp"

namespace mmioscope {

namespace {

// Motherboard system registers of the Versatile Express (DUI 0447 4.3). The other CPUs wait until
// SYS_FLAGS contains an address and an interrupt wakes them. A command in SYS_CFGCTRL can switch
// the board off or reset it before the write returns.
BoardEvent vexpress_sysreg(std::uint64_t offset, std::uint64_t value) {
    constexpr std::uint64_t sys_flagsset = 0x30;
    constexpr std::uint64_t sys_flagsclr = 0x34;
    constexpr std::uint64_t sys_cfgctrl = 0xa4;
    constexpr std::uint64_t start_write = 3u << 30;
    constexpr std::uint64_t shutdown = 8;
    constexpr std::uint64_t reboot = 9;
    const auto function = (value >> 20) & 0x3f;
    switch (offset) {
    case sys_flagsset: return {BoardEvent::Kind::start_address_set};
    case sys_flagsclr: return {BoardEvent::Kind::start_address_clear};
    case sys_cfgctrl:
        if ((value & start_write) != start_write) return {};
        if (function == shutdown) return {BoardEvent::Kind::machine_off};
        if (function == reboot) return {BoardEvent::Kind::machine_reset};
        return {};
    default: return {};
    }
}

// Mailbox of the AST2600's second CPU (Linux: arch/arm/mach-aspeed/platsmp.c).
constexpr StartMailbox aspeed_mailbox{
    .address = 0, .per_cpu = 0, .signature = 4, .signed_for = 0xabba'ab00};

BoardEvent aspeed_smpmem(std::uint64_t offset, std::uint64_t) {
    if (offset != aspeed_mailbox.address) return {};
    return {BoardEvent::Kind::start_address_set};
}

/// The interrupt by which Linux stops its other CPUs before it halts, resets or gives up
/// (IPI_CPU_STOP in arch/arm/kernel/smp.c, 5.10 to 6.12).
constexpr unsigned linux_cpu_stop = 4;

// Mailbox 3 of each CPU (BCM2836 ARM-local peripherals, QA7_rev3.4, 4.8); firmware's code for the
// other CPUs polls it. Linux' interrupts between CPUs are the bits of mailbox 0
// (drivers/irqchip/irq-bcm2836.c).
constexpr StartMailbox bcm2836_mailbox{.address = 0x8c, .per_cpu = 0x10};

BoardEvent bcm2836_local(std::uint64_t offset, std::uint64_t value) {
    constexpr unsigned cpus = 4;
    constexpr std::uint64_t mailbox0 = 0x80;
    for (unsigned cpu = 0; cpu < cpus; ++cpu) {
        if (offset == bcm2836_mailbox.address + cpu * bcm2836_mailbox.per_cpu)
            return {BoardEvent::Kind::start_address_set, cpu};
        if (offset == mailbox0 + cpu * bcm2836_mailbox.per_cpu && value == 1u << linux_cpu_stop)
            return {BoardEvent::Kind::others_stop};
    }
    return {};
}

// Bits 3:0 of GICD_SGIR are the number of the interrupt.
BoardEvent gic_distributor_event(std::uint64_t offset, std::uint64_t value) {
    if (offset != gicd_sgir || (value & 0xf) != linux_cpu_stop) return {};
    return {BoardEvent::Kind::others_stop};
}

} // namespace

constexpr MachineDevice machine_devices[] = {
    {"arm,vexpress-sysreg", vexpress_sysreg, nullptr},
    {"aspeed,ast2600-smpmem", aspeed_smpmem, &aspeed_mailbox},
    {"brcm,bcm2836-l1-intc", bcm2836_local, &bcm2836_mailbox},
    {nullptr, nullptr, nullptr},
};

const MachineRegisters* Board::start_mailbox() const {
    for (const MachineRegisters& registers : machine_registers)
        if (registers.device->mailbox != nullptr) return &registers;
    return nullptr;
}

BoardEvent Board::event_of(PhysicalAddress address, std::uint64_t value) const {
    for (const MachineRegisters& registers : machine_registers)
        if (registers.range.contains(address.value))
            return registers.device->event_of(address.value - registers.range.begin, value);
    if (gic_distributor.value != 0 && address.value >= gic_distributor.value)
        return gic_distributor_event(address.value - gic_distributor.value, value);
    return {};
}

} // namespace mmioscope
