// Idles, and then asks the tracer: the two times at which the hypervisor looks at its checksums
// without a CPU that comes or goes. Which of them found what a debugger had damaged (tests/qemu/
// damage.py) shows in how far the guest came.
#include "control.hpp"

using namespace guest;

namespace {
constexpr u32 sleeps = 120; // more than there are pieces to look at, one for each
constexpr u32 tick = 700'000; // 11 ms at QEMU's 62.5 MHz: looks are 10 ms apart at least
} // namespace

void guest_main() {
    enable_gic();
    set_tick(tick);
    unmask_interrupts();
    for (u32 n = 0; n < sleeps; ++n) asm volatile("dsb\n\twfi" ::: "memory");
    set_tick(0);
    mask_interrupts();
    print("looks: idled\n");
    order(Command::describe);
    print("looks: asked\n");
    done();
}

void secondary_main() {}
