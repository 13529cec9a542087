// Two CPUs use the same registers and interrupts, with one bug of each kind that `mmioscope
// sharing` looks for, and beside each the same done right (tests/qemu/cases/guests.sh checks).
#include "platform.hpp"

#include <atomic>

using namespace guest;

namespace {

// Words of the palette, which keep what is written.
constexpr u32 torn = palette;
constexpr u32 in_turn = palette + 4;
constexpr u32 unread = palette + 8;
constexpr u32 read_back = palette + 12;
// Of unused interrupts: a written 1 sets, a 0 does nothing, so that CPUs need not read it first.
constexpr u32 set_enable = gic_distributor + 0x108; // GICD_ISENABLER2

constexpr u32 tick = 100'000;

std::atomic<u32> step{0};

void wait_for(u32 number) {
    while (step.load() < number) {
    }
}

void write_and_read(u32 address, u32 value) {
    write(address, value);
    require(read(address) == value, "a register forgets");
}

void set_bits(u32 address, u32 bits) {
    write(address, read(address) | bits);
}

/// Sets bits, and lets the other CPU go on between the read and the write.
void set_bits_torn(u32 address, u32 bits, u32 before) {
    const u32 old = read(address);
    step = before;
    wait_for(before + 1);
    write(address, old | bits);
}

void take_interrupt() {
    const u32 before = interrupts();
    enable_gic();
    set_tick(tick);
    unmask_interrupts();
    while (interrupts() == before) {
    }
    mask_interrupts();
    set_tick(0);
}

} // namespace

void guest_main() {
    start_cpu(1);
    write_and_read(torn, 0x100);
    write_and_read(in_turn, 0x100);
    require(read(set_enable) == 0,
            "an interrupt is enabled"); // so that it seems to keep what is written
    write_and_read(set_enable, 0x100);

    set_bits_torn(torn, 1, 1);
    require(read(torn) == 0x101, "the other CPU's bit is not lost");
    set_bits(in_turn, 1);
    step = 3;
    wait_for(4);
    set_bits(in_turn, 4);
    require(read(in_turn) == 0x107, "a bit is lost");
    (void)read(set_enable);
    step = 5;
    wait_for(6);
    write(set_enable, 0x400u);
    require(read(set_enable) == 0x700, "an enable is lost");

    write(unread, 5u);
    write_and_read(read_back, 5);

    take_interrupt();
    take_interrupt();
    step = 7;
    wait_for(8);
    done();
}

void secondary_main() {
    wait_for(1);
    set_bits(torn, 2);
    step = 2;
    wait_for(3);
    set_bits(in_turn, 2);
    step = 4;
    wait_for(5);
    write(set_enable, 0x200u);
    step = 6;
    wait_for(7);
    take_interrupt();
    end_interrupts(false);
    take_interrupt();
    (void)read(read_back); // the CPU has gone on
    step = 8;
}
