// Sends each byte to the console, by stores of every kind, as drivers and hostile guests may.
#include "platform.hpp"

#include <atomic>

using namespace guest;

namespace {

constexpr u32 kinds = 7;

/// Stores `value` to the console's data register.
void send(u32 kind, u32 value) {
    const u32 with_noise = value | 0x5a00u | kind << 16; // the UART takes the lowest byte
    u32 address = console;
    switch (kind) {
    case 0: write<std::uint8_t>(console, static_cast<std::uint8_t>(value)); break;
    case 1: write<std::uint16_t>(console, static_cast<std::uint16_t>(with_noise)); break;
    case 2: write(console, with_noise); break;
    case 3: // writeback: HSR does not describe it
        asm volatile("strb %1, [%0], #1" : "+r"(address) : "r"(value) : "memory");
        break;
    case 4: asm volatile("stm %0, {%1}" : : "r"(address), "r"(with_noise) : "memory"); break;
    case 5:
        asm volatile("strh %1, [%0, #2]!"
                     : "=r"(address)
                     : "r"(with_noise), "0"(address - 2)
                     : "memory");
        break;
    default: // the second word goes to a register that keeps nothing
        register u32 first asm("r2") = with_noise;
        register u32 second asm("r3") = 0;
        asm volatile("strd %0, %1, [%2]" : : "r"(first), "r"(second), "r"(address) : "memory");
    }
}

std::atomic<u32> finished{0};

} // namespace

// Its traps send the stream meanwhile.
void secondary_main() {
    for (u32 n = 0; finished.load() == 0; ++n) write(palette + 4, n);
}

void guest_main() {
    start_cpu(1);
    for (u32 kind = 0; kind < kinds; ++kind) {
        for (u32 value = 0; value < 256; ++value) {
            send(kind, value);
            write(palette, value); // something else for the stream
        }
        print("\n");
    }
    finished = 1;
    done();
}
