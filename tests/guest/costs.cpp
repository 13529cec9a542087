// Makes accesses of one kind after the other, for tests/bench/hyp_costs.py. section() begins a new
// section of the count. Before the first one, each kind is executed a few times, because the first
// accesses cost the hypervisor more. With several CPUs there is one section, in which each CPU
// loads from its own device.
#include "platform.hpp"

#include <atomic>

using namespace guest;

extern "C" void section(); ///< a plugin of QEMU's detects its execution

asm(".global section\n"
    "section: bx lr\n"
    ".thumb\n"
    ".thumb_func\n"
    "load_in_thumb:\n" // (address, count)
    "1: ldr r2, [r0]\n"
    "subs r1, #1\n"
    "bne 1b\n"
    "bx lr\n"
    ".arm\n");
extern "C" void load_in_thumb(u32 address, u32 count);

namespace {

constexpr u32 count = 1000;
constexpr u32 count_of_each = 100'000;
constexpr u32 clock = 0x1c17'0000; // rtc@170000, a PL031
constexpr u32 card = 0x1c05'0000;  // mmci@50000, a PL180
constexpr u32 timer = 0x1c11'0000; // timer@110000, an SP804
/// Not the first byte of a page: nothing is unmapped here, so an access there may have begun in the
/// page before.
constexpr u32 device_of_cpu[] = {palette, clock + 4, card + 4, timer + 4};

constexpr u32 memory = ram + (33u << 20); // a run may watch it

/// QEMU's loader may set this in memory before the guest starts, up to 4; 0: one.
const volatile u32& cpus = *reinterpret_cast<const u32*>(ram + (32u << 20));
std::atomic<u32> ready{0};
std::atomic<u32> finished{0};

void wait_for_all(std::atomic<u32>& there) {
    there.fetch_add(1);
    while (there.load() < cpus) {
    }
}

void load(u32 address, u32 n) {
    asm volatile("1: ldr r12, [%0]\n\tsubs %1, #1\n\tbne 1b"
                 : "+r"(address), "+r"(n)
                 :
                 : "r12", "cc", "memory");
}
void store(u32 address, u32 n) {
    asm volatile("1: str %1, [%0]\n\tsubs %1, #1\n\tbne 1b"
                 : "+r"(address), "+r"(n)
                 :
                 : "cc", "memory");
}
/// In User mode (PL0).
void load_as_user(u32 address, u32 n) {
    asm volatile("cps #0x10\n1: ldr r12, [%0]\n\tsubs %1, #1\n\tbne 1b\n\tsvc #0"
                 : "+r"(address), "+r"(n)
                 :
                 : "r12", "lr", "cc", "memory");
}
/// With writeback, which HSR does not describe.
void load_and_write_back(u32 address, u32 n) {
    asm volatile("1: ldr r12, [%0], #4\n\tsub %0, #4\n\tsubs %1, #1\n\tbne 1b"
                 : "+r"(address), "+r"(n)
                 :
                 : "r12", "cc", "memory");
}
void load_two_words(u32 address, u32 n) {
    asm volatile("1: ldrd r2, r3, [%0]\n\tsubs %1, #1\n\tbne 1b"
                 : "+r"(address), "+r"(n)
                 :
                 : "r2", "r3", "cc", "memory");
}
void load_four_words(u32 address, u32 n) {
    asm volatile("1: ldm %0, {r2, r3, r4, r5}\n\tsubs %1, #1\n\tbne 1b"
                 : "+r"(address), "+r"(n)
                 :
                 : "r2", "r3", "r4", "r5", "cc", "memory");
}
void add_by_exclusives(u32 address, u32 n) {
    asm volatile(
        "1: ldrex r2, [%0]\n\tadd r4, r2, #1\n\tstrex r3, r4, [%0]\n\tteq r3, #0\n\tbne 1b\n\t"
        "subs %1, #1\n\tbne 1b"
        : "+r"(address), "+r"(n)
        :
        : "r2", "r3", "r4", "cc", "memory");
}
/// As Linux' atomic_add() does.
void add_in_one_register(u32 address, u32 n) {
    asm volatile(
        "1: ldrex r2, [%0]\n\tadd r2, r2, %1\n\tstrex r3, r2, [%0]\n\tteq r3, #0\n\tbne 1b\n\t"
        "subs %1, #1\n\tbne 1b"
        : "+r"(address), "+r"(n)
        :
        : "r2", "r3", "cc", "memory");
}

void of_each_kind(void (*between)(), u32 n) {
    between();
    load(palette, n);
    between();
    store(palette, n);
    between();
    load_in_thumb(palette, n);
    between();
    load_as_user(palette, n);
    between();
    load_and_write_back(palette, n);
    between();
    load(palette, n);
    load(device_of_cpu[1], n);
    between();
    load(clock, n);
    between();
    load_two_words(palette, n);
    between();
    load_four_words(palette, n);
    between();
    add_by_exclusives(memory, n);
    between();
    add_in_one_register(memory, n);
    between();
}

} // namespace

void guest_main() {
    of_each_kind([] {}, 4);
    if (cpus > 1) {
        for (u32 n = 1; n < cpus; ++n) start_cpu(n);
        wait_for_all(ready);
        section();
        load(device_of_cpu[0], count_of_each);
        wait_for_all(finished);
        section();
    } else {
        of_each_kind(section, count);
    }
    done();
}

void secondary_main() {
    wait_for_all(ready);
    load(device_of_cpu[cpu_number()], count_of_each);
    wait_for_all(finished);
}
