// What differs from board to board. The device tree says all of it (dt/board.hpp).
#pragma once

#include "base/fixed_vector.hpp"
#include "board/uart.hpp"

namespace mmioscope {

/// What the bus answers where there is no device.
enum class Unassigned : std::uint8_t { aborts, reads_zero };

/// Offset of GICD_SGIR in a GIC's distributor (IHI 0048B 4.3.15).
inline constexpr std::uint64_t gicd_sgir = 0xf00;

/// The effect of a guest's write to a register of the board.
struct BoardEvent {
    enum class Kind {
        none,
        machine_off,
        machine_reset,
        start_address_set,
        start_address_clear,
        others_stop ///< the other CPUs are told to stop for good: this may be the guest's end
    };
    static constexpr unsigned every_cpu = ~0u;

    Kind kind{Kind::none};
    unsigned cpu{every_cpu}; ///< whose start address it is
};

/// Where the boot loader's code for the other CPUs looks for the address to continue at, after an
/// event (SEV).
struct StartMailbox {
    std::uint32_t address{};    ///< offset of CPU 0's
    std::uint32_t per_cpu{};    ///< bytes from one CPU's to the next one's; 0: they share one
    std::uint32_t signature{};  ///< offset of what is written last; 0: nothing is
    std::uint32_t signed_for{}; ///< what is written there, plus the CPU's number
};

/// A device whose registers can end the machine or start CPUs.
struct MachineDevice {
    const char* compatible;
    /// The effect of writing `value` at `offset`, in bytes from the start of the device.
    BoardEvent (*event_of)(std::uint64_t offset, std::uint64_t value);
    /// The other CPUs wait here and do not enter the image by themselves; null: they do, and wait
    /// for an interrupt.
    const StartMailbox* mailbox;
};
/// Those that are known. The last one has no `compatible`.
extern const MachineDevice machine_devices[];

struct MachineRegisters {
    Range range; ///< always traps
    const MachineDevice* device{};
};

struct Board {
    char name[32]{};   ///< first `compatible` of the device tree's root; zero-terminated
    Uart uart{};       ///< for the hypervisor's own messages
    int uart_node{-1}; ///< negative: no UART is known
    /// The guest has this UART, too: the hypervisor prints only before the guest starts and after
    /// the end.
    bool uart_is_guests{true};
    PhysicalAddress gic_distributor{}; ///< 0: no GIC
    PhysicalAddress gic_cpu_interface{};
    FixedVector<MachineRegisters, 4> machine_registers;
    /// Firmware answers PSCI calls and starts the CPUs (Arm DEN 0022); without it all CPUs enter
    /// the image, and a register starts them.
    bool psci{};
    Unassigned unassigned{};

    /// The device whose mailbox starts CPUs; null: there is none.
    const MachineRegisters* start_mailbox() const;
    /// The effect of the guest's write of `value` to `address`.
    BoardEvent event_of(PhysicalAddress address, std::uint64_t value) const;
};

} // namespace mmioscope
