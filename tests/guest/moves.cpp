// Two CPUs use one page of memory: exclusives count in it, each CPU has a word of its own there,
// and code in it reads a register. If the page moves between them (services/moving/) all of it must
// come out as without. Where firmware is, CPU 1 goes off half way, and comes back.
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 rounds = 10000, half = rounds / 2;
constexpr u32 page = spare_ram;
constexpr u32 counter = page + 0x40;
constexpr u32 user = page + 0x80; ///< who was the last to use it
constexpr u32 own = page + 0x100; ///< one for each CPU, 0x100 bytes apart
constexpr u32 code = page + 0x800;

volatile u32 ready;
volatile u32 off; ///< CPU 1 goes off now
volatile u32 finished;
/// How often each CPU found that the other one had used the page: it has got it back since then.
volatile u32 got_back[2];

void add_one(u32 address) {
    u32 value;
    u32 refused;
    do {
        asm volatile("ldrex %0, [%2]\n\tadd %0, %0, #1\n\tstrex %1, %0, [%2]"
                     : "=&r"(value), "=&r"(refused)
                     : "r"(address)
                     : "memory");
    } while (refused != 0);
}

/// Rounds `from` to `to`.
void use(u32 cpu, u32 from, u32 to) {
    map(page, Memory::device_executable);
    const auto read_register = reinterpret_cast<u32 (*)(u32)>(code);
    for (u32 i = from; i < to; ++i) {
        asm volatile("yield"); // an emulator with one thread lets the other CPU go on
        if (read(user) != cpu) got_back[cpu] = got_back[cpu] + 1;
        write(user, cpu);
        add_one(counter);
        write(own + 0x100 * cpu, read(own + 0x100 * cpu) + 1);
        require(read_register(palette + 4 * cpu) == i, "the register has another value");
        write(palette + 4 * cpu, i + 1);
    }
}

} // namespace

void guest_main() {
    map(page, Memory::device_executable);
    write(counter, 0u);
    write(user, 0u);
    for (u32 cpu = 0; cpu < 2; ++cpu) {
        write(own + 0x100 * cpu, 0u);
        write(palette + 4 * cpu, 0u);
    }
    write(code, 0xe590'0000u);                                                   // ldr r0, [r0]
    write(code + 4, 0xe12f'ff1eu);                                               // bx lr
    asm volatile("dsb\n\tmcr p15, 0, %0, c7, c5, 0\n\tisb" ::"r"(0) : "memory"); // ICIALLU
    start_cpu(1);
    while (ready == 0) {
    }
    use(0, 0, half);
    if constexpr (has_firmware) {
        constexpr u32 alone = 100;
        while (off == 0) {
        }
        wait_until_off(1);
        use(0, half, half + alone);
        start_cpu(1);
        use(0, half + alone, rounds);
    } else {
        use(0, half, rounds);
    }
    while (finished == 0) {
    }
    require(read(counter) == 2 * rounds, "counted wrong");
    for (u32 cpu = 0; cpu < 2; ++cpu) require(read(own + 0x100 * cpu) == rounds, "a store is lost");
    print("moves: at least ", got_back[0] + got_back[1], "\n");
    done();
}

void secondary_main() {
    ready = 1;
    if (off == 0) use(1, 0, half);
    if constexpr (has_firmware) {
        if (off == 0) {
            off = 1;
            turn_off();
        }
    }
    use(1, half, rounds);
    finished = 1;
}
