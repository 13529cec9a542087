// Plays the steps that `mmioscope gen` made. The build includes them, with REPLAY_BASE and
// REPLAY_STEPS (tests/qemu/cases/gen.sh).
#include "platform.hpp"

#include <iterator>

using namespace guest;

void guest_main() {
    const auto base = reinterpret_cast<volatile void*>(REPLAY_BASE);
    const unsigned played =
        mmio_replay(base, REPLAY_STEPS, std::size(REPLAY_STEPS), [](unsigned us) { wait_us(us); });
    print("guest: ", u32{played}, " steps of ", u32{std::size(REPLAY_STEPS)}, "\n");
    require(played == std::size(REPLAY_STEPS), "a check or a poll failed");
    done();
}

void secondary_main() {}
