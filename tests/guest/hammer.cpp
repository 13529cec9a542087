// Two CPUs access one device page at the same time, 50,000 times each: stores of values that
// occur once, and loads of words that the other CPU stores. Every lost, doubled or swapped
// access shows as a difference between the trace and QEMU's log.
#include "platform.hpp"

#include <atomic>

using namespace guest;

namespace {

constexpr u32 accesses_each = 50'000;

std::atomic<u32> ready{0};
std::atomic<u32> finished{0};
std::atomic<u32> wrong{0};

/// A word of its own, which must read back, and one for both, which the other may overwrite.
void hammer(u32 cpu) {
    const u32 own = palette + 4 * cpu;
    const u32 shared = palette + 8;
    const u32 of_this_cpu = (cpu + 1) << 28;
    ready.fetch_add(1);
    while (ready.load() < 2) {
    }
    for (u32 n = 0; n < accesses_each; n += 4) {
        write(own, of_this_cpu | n);
        write(shared, of_this_cpu | n);
        if (read(own) != (of_this_cpu | n)) wrong.fetch_add(1);
        const u32 value = read(shared);
        const u32 writer = value >> 28;
        const bool possible = writer == cpu + 1 ? value == (of_this_cpu | n) : writer == 2 - cpu;
        if (!possible) wrong.fetch_add(1);
    }
    finished.fetch_add(1);
}

} // namespace

void guest_main() {
    print("hammer: ", 2 * accesses_each, " accesses by 2 CPUs\n");
    start_cpu(1);
    hammer(0);
    while (finished.load() < 2) {
    }
    require(wrong.load() == 0, "a word holds what nobody wrote");
    done();
}

void secondary_main() {
    hammer(1);
}
