// CPU 0 ends the machine while the others store several words at a time without a pause. The word
// 32 MiB behind the beginning of RAM has the number of CPUs in bits 3:0, in bit 4 whether to reset
// the machine, and above how long to wait before.
#include "platform.hpp"

#include <atomic>

using namespace guest;

namespace {

std::atomic<u32> running{0};

} // namespace

void guest_main() {
    const u32 how = read(ram + (32u << 20));
    const u32 cpus = how & 15;
    for (u32 n = 1; n < cpus; ++n) start_cpu(n);
    while (running.load() < cpus - 1) {
    }
    wait_us(1000 + (how >> 5) * 37);
    if ((how >> 4 & 1) != 0) reset();
    power_off();
}

void secondary_main() {
    const u32 at = palette + 16 * cpu_number();
    for (u32 n = 0;; n += 4) {
        if (n == 100) running.fetch_add(1);
        register u32 a asm("r4") = n;
        register u32 b asm("r5") = n + 1;
        register u32 c asm("r6") = n + 2;
        register u32 d asm("r7") = n + 3;
        asm volatile("stm %0, {r4-r7}" ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
    }
}
