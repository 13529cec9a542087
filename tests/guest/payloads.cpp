// Two CPUs store unique values to the palette, behind which a test's service puts payloads
// (tests/payload/); between them are accesses without any, some of which take the fast path.
#include "platform.hpp"

#include <atomic>

using namespace guest;

namespace {

constexpr u32 stores_each = 5'000;
constexpr u32 cpus = 2;

std::atomic<u32> ready{0};
std::atomic<u32> finished{0};

void store_all(u32 cpu) {
    ready.fetch_add(1);
    while (ready.load() < cpus) {
    }
    for (u32 n = 0; n < stores_each; ++n) {
        write(palette + 4 * (cpu + 2 * (n % 8)), (cpu + 1) << 28 | n);
        if (n % 3 == 0) (void)read(console + console_status);
        if (n % 5 == 0) (void)read(palette + 4 * (n % 16));
    }
    finished.fetch_add(1);
}

} // namespace

void guest_main() {
    start_cpu(1);
    store_all(0);
    while (finished.load() < cpus) {
    }
    done();
}

void secondary_main() {
    store_all(cpu_number());
}
