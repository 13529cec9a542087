// An SP804's interrupt comes a time after its load register is written: rounds of that, with the
// register that clears it. `mmioscope regs` finds both (tests/qemu/cases/regs.sh).
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 timer = 0x1c11'0000; // timer@110000
constexpr u32 load = timer, control = timer + 8, clear = timer + 0xc, raw_status = timer + 0x10;
constexpr u32 wide = 2, periodic = 0x40, enabled = 0x80;
constexpr u32 ticks = 5'000; // MHz: 5 ms

} // namespace

void guest_main() {
    write(load, ticks);
    write(control, wide | periodic | enabled);
    for (u32 round = 0; round < 8; ++round) {
        write(load, ticks + 16 * round);
        while (read(raw_status) == 0) {
        }
        write(clear, 1);
        (void)read(raw_status);
    }
    done();
}

void secondary_main() {}
