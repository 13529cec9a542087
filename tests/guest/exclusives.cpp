// Load-exclusive and store-exclusive on a device: two CPUs count in the same registers, by words,
// bytes, halfwords and doublewords, while both store to others of the page; a store without its
// load; CLREX. Each count must be exact, however often each CPU succeeded.
//
// A device may support reservations or not (ARM ARM A3.4.5); QEMU's do, and the hypervisor must.
#include "platform.hpp"

using namespace guest;

namespace {

constexpr u32 rounds = 1000;

// Words of the palette.
constexpr u32 count_words = palette;
constexpr u32 count_pairs = palette + 0x10;
constexpr u32 scratch = palette + 0x20; ///< one for each CPU
/// Bytes that are separate registers: GICD_ITARGETSR of interrupts that no test uses.
constexpr u32 count_bytes = gic_distributor + 0x840;
constexpr u32 count_halves = count_bytes + 4;

volatile u32 ready;
volatile u32 finished;

/// Adds 1 by `load` and `store` until that succeeds.
#define ADD_ONE(load, store)                                                                       \
    [](u32 address) {                                                                              \
        u32 value;                                                                                 \
        u32 refused;                                                                               \
        do {                                                                                       \
            asm volatile(load " %0, [%1]" : "=&r"(value) : "r"(address) : "memory");               \
            asm volatile(store " %0, %1, [%2]"                                                     \
                         : "=&r"(refused)                                                          \
                         : "r"(value + 1), "r"(address)                                            \
                         : "memory");                                                              \
        } while (refused != 0);                                                                    \
    }

void add_one_to_pair(u32 address) {
    u32 refused;
    do {
        asm volatile("ldrexd r4, r5, [%1]\n\tadd r4, r4, #1\n\tsub r5, r5, #1\n\t"
                     "strexd %0, r4, r5, [%1]"
                     : "=&r"(refused)
                     : "r"(address)
                     : "r4", "r5", "memory");
    } while (refused != 0);
}

/// Changes it from 0 to 1s, like a lock: the bytes there keep only two bits.
template <class Load, class Store>
void lock(u32 address, Load load, Store store) {
    for (;;)
        if (load(address) == 0 && store(address) == 0) return;
}

u32 load_byte(u32 address) {
    u32 value;
    asm volatile("ldrexb %0, [%1]" : "=&r"(value) : "r"(address) : "memory");
    return value;
}
u32 store_byte(u32 address) {
    u32 refused;
    asm volatile("strexb %0, %1, [%2]" : "=&r"(refused) : "r"(1), "r"(address) : "memory");
    return refused;
}
u32 load_half(u32 address) {
    u32 value;
    asm volatile("ldrexh %0, [%1]" : "=&r"(value) : "r"(address) : "memory");
    return value;
}
u32 store_half(u32 address) {
    u32 refused;
    asm volatile("strexh %0, %1, [%2]" : "=&r"(refused) : "r"(0x0101), "r"(address) : "memory");
    return refused;
}

volatile u32 guarded_by_byte;
volatile u32 guarded_by_half;

void count(u32 cpu) {
    constexpr auto add_one = ADD_ONE("ldrex", "strex");
    for (u32 i = 0; i < rounds; ++i) {
        add_one(count_words);
        add_one_to_pair(count_pairs);
        write(scratch + 4 * cpu, i);
        lock(count_bytes, load_byte, store_byte);
        guarded_by_byte = guarded_by_byte + 1;
        asm volatile("dmb" ::: "memory");
        write<u8>(count_bytes, 0);
        lock(count_halves, load_half, store_half);
        guarded_by_half = guarded_by_half + 1;
        asm volatile("dmb" ::: "memory");
        write<u16>(count_halves, 0);
    }
}

/// The result of a store-exclusive that must not store.
void refused() {
    u32 value;
    u32 status;
    write(scratch, 5u);
    asm volatile("clrex\n\tstrex %0, %1, [%2]" : "=&r"(status) : "r"(6), "r"(scratch) : "memory");
    require(status == 1, "a store-exclusive without its load has stored");
    asm volatile("ldrex %0, [%2]\n\tclrex\n\tstrex %1, %3, [%2]"
                 : "=&r"(value), "=&r"(status)
                 : "r"(scratch), "r"(6)
                 : "memory");
    require(status == 1 && value == 5, "CLREX is forgotten");
    asm volatile("ldrex %0, [%2]\n\tstrex %1, %4, [%3]"
                 : "=&r"(value), "=&r"(status)
                 : "r"(scratch), "r"(scratch + 4), "r"(6)
                 : "memory");
    require(status == 1, "a store-exclusive elsewhere has stored");
    require(read(scratch) == 5, "a refused store-exclusive has stored");
    print("exclusives: refused stores\n");
}

} // namespace

void guest_main() {
    refused();
    write(count_words, 0u);
    write(count_pairs, 0u);
    write(count_pairs + 4, 0u);
    write(count_bytes, 0u);
    write(count_halves, 0u);
    start_cpu(1);
    while (ready == 0) {
    }
    count(0);
    while (finished == 0) {
    }
    require(read(count_words) == 2 * rounds, "words were counted wrong");
    require(read(count_pairs) == 2 * rounds, "pairs were counted wrong");
    require(read(count_pairs + 4) == 0 - 2 * rounds, "pairs were counted wrong above");
    require(guarded_by_byte == 2 * rounds, "a lock of a byte was taken twice");
    require(guarded_by_half == 2 * rounds, "a lock of a halfword was taken twice");
    print("exclusives: 2 CPUs, ", rounds, " rounds of 4 counts each\n");
    done();
}

void secondary_main() {
    ready = 1;
    count(1);
    finished = 1;
}
