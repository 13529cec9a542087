// Does to an SP804 what its driver may: sets it up, reads back, waits for it by polling, pauses.
// `mmioscope gen` makes steps of it, and tests/guest/replay.cpp does them again.
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 timer = 0x1c11'0000; // timer@110000
constexpr u32 load = timer, value = timer + 4, control = timer + 8, clear = timer + 0xc,
              raw_status = timer + 0x10;
constexpr u32 one_shot = 1, wide = 2, enabled = 0x80;

} // namespace

void guest_main() {
    write(control, 0);
    write(load, 20'000); // MHz: 20 ms
    require(read(load) == 20'000, "the timer keeps no value");
    write(control, one_shot | wide | enabled);
    (void)read(value);
    while (read(raw_status) == 0) {
    }
    write(clear, 1);
    wait_us(3'000);
    require(read(raw_status) == 0, "the timer's interrupt is not cleared");
    write(control, wide);
    require(read(control) == wide, "the timer keeps no control");
    done();
}

void secondary_main() {}
