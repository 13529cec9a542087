// Switches off the clocks of all UARTs, and resets them, two of which are the hypervisor's
// (`orangepi-pc`).
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 clocks = 0x01c2'0000;              // clock@1c20000
constexpr u32 registers[] = {0x6c, 0x2d8};       // gates of clocks; resets
constexpr u32 hypervisors = 1u << 17 | 1u << 18; // serial@1c28400 and serial@1c28800
constexpr u32 all = 1u << 16 | hypervisors | 1u << 19;
constexpr u32 rounds = 100;

/// Two words, the second one to `address`.
void write_two(u32 address, u32 value) {
    register u32 first asm("r2") = read(address - 4);
    register u32 second asm("r3") = value;
    asm volatile("stmia %0, {r2, r3}" ::"r"(address - 4), "r"(first), "r"(second) : "memory");
}

} // namespace

void guest_main() {
    for (const u32 offset : registers) {
        const u32 address = clocks + offset;
        const u32 others = read(address) & ~all;
        write(address, others); // off before: nothing to keep
        require(read(address) == others, "a bit that was clear is kept");
        for (u32 round = 0; round < rounds; ++round) {
            write(address, others | all);
            write(address, others);
            require(read(address) == (others | hypervisors), "not what the hypervisor keeps");
        }
        write(address, others | all);
    }
    print("clocks: ", rounds, " rounds\n");
    write_two(clocks + registers[0], read(clocks + registers[0]) & ~hypervisors);
    require((read(clocks + registers[0]) & hypervisors) == 0, "kept after all");
    write(clocks + registers[0], all);
    done();
}

void secondary_main() {}
