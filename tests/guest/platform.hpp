// What the guests share: the board's registers, a console, exceptions, interrupts, power.
#pragma once

#include <cstdint>

namespace guest {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;

// vexpress-a15. The comments name the device tree's nodes.
inline constexpr u32 sysreg = 0x1c01'0000;   // sysreg@10000
inline constexpr u32 console = 0x1c09'0000;  // serial@90000
inline constexpr u32 hyp_uart = 0x1c0a'0000; // serial@a0000
inline constexpr u32 clcd = 0x1c1f'0000;     // clcd@1f0000
inline constexpr u32 gic_distributor = 0x2c00'1000;
inline constexpr u32 gic_interface = 0x2c00'2000;

/// 128 words that hold what was written to them, with no other effect: the palette of the
/// PL111. A narrower access reads or writes the low bits of the whole word.
inline constexpr u32 palette = clcd + 0x200;

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

/// To the console; only one CPU at a time.
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
/// Maps the MiB around `address` anew, on this CPU.
void map(u32 address, Memory memory);

/// Has CPU 1 call secondary_main(), which every guest defines.
void start_cpu1();

// Exceptions. Interrupts are off until enabled by the guest.
enum class Kind : u32 { undefined, prefetch_abort, data_abort, irq, none };
struct Fault {
    Kind kind = Kind::none; ///< of the last one
    u32 count = 0;
    u32 status = 0;  ///< DFSR or IFSR
    u32 address = 0; ///< DFAR or IFAR; for `undefined`, where the guest goes on
};
Fault& expect_faults(bool on);
/// What `action` ran into. Goes on behind the (ARM) instruction; at its caller for a prefetch
/// abort.
template <typename Action>
Fault faults_of(Action action) {
    expect_faults(true);
    action();
    return expect_faults(false);
}

void enable_gic();
/// Interrupts this CPU each `ticks` of the generic timer from now on; 0: no more.
void set_tick(u32 ticks);
/// Interrupts since the start.
u32 interrupts();
void unmask_interrupts();
void mask_interrupts();

} // namespace guest

extern "C" void guest_main();
extern "C" void secondary_main();
