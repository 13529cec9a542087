// Several CPUs access one device page at the same time: they store unique values, and load words
// that the others store. Every lost, doubled or swapped access shows as a difference between the
// trace and QEMU's log.
#include "platform.hpp"

#include <atomic>

using namespace guest;

namespace {

/// QEMU's loader may set these in memory before the guest starts (tests/qemu/lib.sh); 0: default.
struct Parameters {
    u32 accesses; ///< of each CPU, a multiple of 4, below 2^28
    u32 cpus;
};
const volatile Parameters& given = *reinterpret_cast<const Parameters*>(ram + (32u << 20));

u32 accesses_each;
u32 cpus;

std::atomic<u32> ready{0};
std::atomic<u32> finished{0};
std::atomic<u32> wrong{0};

/// Its own word, which must read back, and a common one, which the others may overwrite.
void hammer(u32 cpu) {
    const u32 own = palette + 4 * cpu;
    const u32 shared = palette + 4 * 8;
    const u32 of_this_cpu = (cpu + 1) << 28;
    ready.fetch_add(1);
    while (ready.load() < cpus) {
    }
    for (u32 n = 0; n < accesses_each; n += 4) {
        write(own, of_this_cpu | n);
        write(shared, of_this_cpu | n);
        if (read(own) != (of_this_cpu | n)) wrong.fetch_add(1);
        const u32 value = read(shared);
        const u32 writer = value >> 28;
        const bool possible =
            writer == cpu + 1 ? value == (of_this_cpu | n) : writer >= 1 && writer <= cpus;
        if (!possible) wrong.fetch_add(1);
    }
    finished.fetch_add(1);
}

} // namespace

void guest_main() {
    accesses_each = given.accesses != 0 ? given.accesses : 50'000;
    cpus = given.cpus != 0 ? given.cpus : 2;
    print("hammer: ", cpus * accesses_each, " accesses by ", cpus, " CPUs\n");
    for (u32 cpu = 1; cpu < cpus; ++cpu) start_cpu(cpu);
    hammer(0);
    while (finished.load() < cpus) {
    }
    require(wrong.load() == 0, "a word holds what nobody wrote");
    done();
}

void secondary_main() {
    hammer(cpu_number());
}
