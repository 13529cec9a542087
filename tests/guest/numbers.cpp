// Counts in a device's register until the host says stop (tests/qemu/stalling_reader.py writes to
// the guest's RAM), and a little further. What is missing in the trace is missing in the numbers.
#include "platform.hpp"

using namespace guest;

namespace {
const volatile u32& enough = *reinterpret_cast<const volatile u32*>(ram + (32u << 20));
constexpr u32 more = 20'000;
} // namespace

void guest_main() {
    u32 n = 0;
    while (enough == 0) write(palette, n++);
    for (const u32 end = n + more; n < end; ++n) write(palette, n);
    print("numbers: ", n, "\n");
    done();
}

void secondary_main() {}
