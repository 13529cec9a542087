// CPUs fetch from a device's page again and again, which is a prefetch abort, while CPU 0 changes
// what is traced: tables and map change while the hypervisor looks whether they are damaged.
#include "control.hpp"

#include <atomic>

using namespace guest;

namespace {

std::atomic<u32> running{0};
std::atomic<u32> stop{0};
std::atomic<u32> fetched{0};

} // namespace

/// The word 32 MiB behind the beginning of RAM has the number of CPUs in bits 3:0, and above how
/// many changes to make.
void guest_main() {
    const u32 how = read(ram + (32u << 20));
    const u32 others = (how & 15) - 1;
    const u32 rounds = how >> 4;
    map(palette, Memory::device_executable);
    expect_faults(true);
    for (u32 n = 1; n <= others; ++n) start_cpu(n);
    while (running.load() < others) {
    }
    for (u32 n = 0; n < rounds; ++n) {
        write(palette, n);
        while (ask(Command::stop).status != Status::done) {
        }
        while (ask(Command::start).status != Status::done) {
        }
        require(read<u8>(palette) == (n & 0xff), "a wrong value");
    }
    stop = 1;
    while (running.load() != 0) {
    }
    print("fetches: ", rounds, " changes, ", fetched.load(), " fetches\n");
    done();
}

void secondary_main() {
    running.fetch_add(1);
    while (stop.load() == 0) {
        reinterpret_cast<void (*)()>(palette)();
        fetched.fetch_add(1);
        wait_us(200);
    }
    running.fetch_sub(1);
}
