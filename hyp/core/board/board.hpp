// What differs from board to board. Each image links one board file (hyp.mk).
#pragma once

#include "board/uart.hpp"

namespace mmioscope {

/// What the bus answers where there is no device.
enum class Unassigned { reads_zero, aborts };

/// The effect of a guest's write to a register of the board.
struct BoardEvent {
    enum class Kind { none, machine_off, machine_reset, start_address_set, start_address_clear };
    Kind kind{Kind::none};
};

struct Board {
    const char* name;
    const char* compatible;   ///< of the device tree's root node
    Uart uart;                ///< for the hypervisor's own messages, by default
    std::uint32_t uart_clock; ///< Hz, of all UARTs of the board
    /// It is the only UART: the guest keeps it, and the hypervisor prints only before the guest
    /// starts and after the end.
    bool uart_is_guests;
    PhysicalAddress gic_distributor;
    PhysicalAddress gic_cpu_interface;
    /// Can end the machine or start CPUs, so they always trap; may be empty.
    Range machine_registers;
    /// Firmware answers PSCI calls by SMC and starts the CPUs (Arm DEN 0022); without it all CPUs
    /// enter the image, and a register starts them.
    bool psci;
    Unassigned unassigned;
    /// Something on the bus tells accesses of User mode (PL0) from privileged ones (AXI's
    /// AxPROT[0], IHI 0022); Hyp's own accesses are privileged, so it makes none for User mode.
    bool user_firewall;

    /// The effect of writing `value` to `address`, which lies within machine_registers.
    BoardEvent (*event_of)(PhysicalAddress address, std::uint64_t value);
};

/// The board of this image.
extern const Board board;

} // namespace mmioscope
