// Shared by the guests: the board's registers, a console, exceptions, interrupts, power.
#pragma once

#include "board.hpp" // of the board that the guest is built for

#include <cstdint>

namespace guest {

template <typename T = u32>
inline T read(u32 address) {
    return *reinterpret_cast<volatile const T*>(address);
}
template <typename T = u32>
inline void write(u32 address, T value) {
    *reinterpret_cast<volatile T*>(address) = value;
}

struct Hex {
    u32 value;
};
void print_one(const char* text);
void print_one(u32 number);
void print_one(Hex number);

/// Prints to the console; only one CPU at a time.
template <typename... Parts>
void print(Parts... parts) {
    (print_one(parts), ...);
}

/// Prints "guest: done" or "guest: failed <why>" and switches the board off.
[[noreturn]] void done();
[[noreturn]] void failed(const char* why);

inline void require(bool condition, const char* why) {
    if (!condition) failed(why);
}

// Memory of the flat map.
enum class Memory { device, device_executable };
/// Maps the MiB around `address` again, on this CPU.
void map(u32 address, Memory memory);

/// A MiB of RAM that the map does not use, and MiBs of unmapped addresses.
inline constexpr u32 spare_ram = ram + (80u << 20);
inline constexpr u32 window = 0x6000'0000;
/// Maps the MiB at `address` to the one at `target`, with its attributes, on all CPUs.
void map_window(u32 address, u32 target);
/// Unmaps the MiB at `address`, on all CPUs.
void unmap(u32 address);

/// This CPU's number, from 0.
u32 cpu_number();
/// Makes CPU `number` call secondary_main(), which every guest defines.
void start_cpu(u32 number);
// Where firmware is:
/// Turns this CPU off.
void turn_off();
void wait_until_off(u32 number);

// Exceptions. Interrupts are off until the guest enables them.
enum class Kind : u32 { undefined, prefetch_abort, data_abort, irq, none };
struct Fault {
    Kind kind = Kind::none; ///< of the last exception
    u32 count = 0;
    u32 status = 0;  ///< DFSR or IFSR
    u32 address = 0; ///< DFAR or IFAR; for `undefined`, where the guest continues
    u32 pc = 0;      ///< of the instruction; for `undefined`, after it
    u32 psr = 0;     ///< SPSR
};
Fault& expect_faults(bool on);
/// The fault of `action`. Continues after the (ARM) instruction; at its caller for a prefetch
/// abort.
template <typename Action>
Fault faults_of(Action action) {
    expect_faults(true);
    action();
    return expect_faults(false);
}

void enable_gic();
/// Interrupts this CPU every `ticks` of the generic timer from now on; 0: stops.
void set_tick(u32 ticks);
/// Waits, by the generic timer.
void wait_us(u32 microseconds);
/// Whether interrupts are ended (GICC_EOIR) from now on, on all CPUs: at first they are.
void end_interrupts(bool on);
/// Number of interrupts so far.
u32 interrupts();
void unmask_interrupts();
void mask_interrupts();

} // namespace guest

extern "C" void guest_main();
extern "C" void secondary_main();
