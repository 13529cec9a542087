// An 8250 that hears itself: the second byte that nobody reads is an overrun, which a read of its
// line status clears. `mmioscope regs` finds that (tests/qemu/cases/regs.sh).
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 data = other_uart, modem_control = other_uart + 0x10, line_status = other_uart + 0x14;
constexpr u32 loopback = 0x10, ready = 1, overrun = 2;

} // namespace

void guest_main() {
    write(modem_control, loopback);
    for (u32 round = 0; round < 8; ++round) {
        write(data, 'a' + round);
        write(data, 'A' + round);
        require((read(line_status) & (ready | overrun)) == (ready | overrun), "no overrun");
        require((read(line_status) & (ready | overrun)) == ready, "it was not cleared");
        require((read(line_status) & (ready | overrun)) == ready, "the byte did not stay");
        (void)read(data);
    }
    done();
}

void secondary_main() {}
