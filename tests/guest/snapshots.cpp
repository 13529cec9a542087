// Two CPUs write numbers to a page each; one asks twice for a snapshot of the last records, and
// both continue.
#include "control.hpp"

#include <atomic>

using namespace guest;

namespace {

constexpr u32 before = 3000; ///< writes of CPU 0 before each snapshot
constexpr u32 behind = 500;  ///< and after the last one

std::atomic<u32> stop{0};
std::atomic<u32> finished{0};

} // namespace

void guest_main() {
    start_cpu(1);
    u32 n = 0;
    for (u32 snapshot = 1; snapshot <= 2; ++snapshot) {
        for (; n < snapshot * before; ++n) write(palette, n);
        order(Command::snapshot);
    }
    for (; n < 2 * before + behind; ++n) write(palette, n);
    stop = 1;
    while (finished.load() == 0) {
    }
    require(ask(Command::snapshot, 1).status == Status::argument,
            "an argument nobody uses is taken");
    done();
}

void secondary_main() {
    for (u32 n = 0; stop.load() == 0; ++n) write(palette + 4, n);
    finished = 1;
}
