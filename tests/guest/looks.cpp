// Idles, and then asks the tracer: two occasions at which the hypervisor checks its checksums
// without a CPU that comes or goes. How far the guest gets shows which of them found a debugger's
// damage (tests/qemu/damage.py).
#include "control.hpp"

using namespace guest;

namespace {
constexpr u32 sleeps = 120; // more than there are pieces to check, one for each
constexpr u32 tick = 700'000; // 11 ms at QEMU's 62.5 MHz: checks are at least 10 ms apart
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
