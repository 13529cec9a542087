// What differs from board to board. One board file is linked into an image (linker/, Makefile).
#pragma once

#include "board/uart.hpp"

namespace mmioscope {

/// What a bus answers where no device is.
enum class Unassigned { reads_zero, aborts };

/// What a guest's write to a register of the board asks for.
struct BoardEvent {
    enum class Kind { none, machine_off, machine_reset, start_address_set, start_address_clear };
    Kind kind{Kind::none};
};

struct Board {
    const char* name;
    const char* compatible;   ///< of the device tree's root node
    Uart uart;                ///< the hypervisor prints on by default
    std::uint32_t uart_clock; ///< Hz, of all its UARTs
    bool uart_is_guests; ///< it is the only one: the guest keeps it, and only what is said before
                         ///< the guest starts, or after the end, goes there
    PhysicalAddress gic_distributor;
    PhysicalAddress gic_cpu_interface;
    Range machine_registers; ///< can end the machine or start CPUs: always trapped; may be empty
    bool psci; ///< firmware answers PSCI calls by SMC and starts the CPUs (Arm DEN 0022); without
               ///< it they all enter the image, and a register starts them
    Unassigned unassigned;
    bool user_firewall; ///< something on its bus tells User's accesses (PL0) from privileged ones
                        ///< (AXI's AxPROT[0], IHI 0022): Hyp, whose own are privileged, does none
                        ///< in User mode's place

    /// What a write of `value` to `address` (within machine_registers) does.
    BoardEvent (*event_of)(PhysicalAddress address, std::uint64_t value);
};

/// The board of this image.
extern const Board board;

} // namespace mmioscope
