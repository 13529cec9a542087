// Two CPUs use a page of memory in turn, for tests/bench/hyp_costs.py: each loads what the other one
// has stored, and stores; the code in another page is changed by one and called by both. section()
// is as in costs.cpp. Each turn lasts longer than a page stays with a CPU. Who waits yields, so an
// emulator with one thread goes on with the other CPU.
#include "platform.hpp"

using namespace guest;

extern "C" void section(); ///< a plugin of QEMU's detects its execution

asm(".global section\n"
    "section: bx lr\n");

namespace {

constexpr u32 rounds = 40;
constexpr u32 page = spare_ram + 0x40, code = spare_ram + 0x1000, other = spare_ram + 0x2000;

volatile u32 turn = 1, started;

void use(u32 cpu) {
    const auto call = reinterpret_cast<void (*)()>(code);
    map(page, Memory::device_executable);
    for (u32 n = 0; n < 4; ++n) read(palette); // opens the fast path
    for (u32 n = 0; n < rounds; ++n) {
        while (turn != cpu) asm volatile("yield");
        wait_us(11);
        write(page, read(page) + 1); // load, then store
        write(other, n);             // store
        if (cpu == 0) write(code, 0xe12f'ff1eu); // bx lr
        call();                      // fetch
        turn = 1 - cpu;
    }
}

} // namespace

void guest_main() {
    map(page, Memory::device_executable);
    write(page, 0u);
    write(code, 0xe12f'ff1eu);
    start_cpu(1);
    while (started == 0) asm volatile("yield");
    use(0);
    section();
    require(read(page) == 2 * rounds, "a store is lost");
    done();
}

void secondary_main() {
    started = 1;
    section();
    use(1);
    for (;;) asm volatile("yield"); // with WFI such an emulator stands still
}
