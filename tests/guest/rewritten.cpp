// A load that has become another instruction when it is executed again in its single step: a
// branch, to code that uses CP15 and then a device. No race is needed: the page with the load is
// mapped elsewhere, and the old translation, which the guest does not invalidate, disappears with
// the step's TLBIALL.
#include "platform.hpp"

using namespace guest;

extern "C" u32 translation_table[4096];

namespace {

constexpr u32 rounds = 500;
constexpr u32 mib = 1u << 20;
constexpr u32 first_code = spare_ram;
constexpr u32 second_code = spare_ram + mib;

constexpr u32 load_r1 = 0xe590'1000;     ///< LDR r1, [r0]
constexpr u32 branch_to_2 = 0xea00'0000; ///< to the word after the next
constexpr u32 read_tpidruro = 0xee1d'2f70;
constexpr u32 return_to_lr = 0xe12f'ff1e;

volatile u32 some_memory;

void write_code() {
    constexpr u32 first[] = {load_r1, return_to_lr};
    constexpr u32 second[] = {branch_to_2, return_to_lr, read_tpidruro, load_r1,
                              load_r1,     load_r1,      return_to_lr};
    for (u32 n = 0; n < 2; ++n) write(first_code + 4 * n, first[n]);
    for (u32 n = 0; n < 7; ++n) write(second_code + 4 * n, second[n]);
    asm volatile("mcr p15, 0, %0, c7, c11, 1" ::"r"(first_code)
                 : "memory"); // DCCMVAU: one line each
    asm volatile("mcr p15, 0, %0, c7, c11, 1" ::"r"(second_code) : "memory");
    asm volatile("dsb\n\tmcr p15, 0, %0, c7, c5, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // ICIALLU
}

/// Calls the code in the window.
void load(u32 address) {
    register u32 r0 asm("r0") = address;
    asm volatile("blx %1" : "+r"(r0) : "r"(window) : "r1", "r2", "lr", "memory");
}

} // namespace

void guest_main() {
    write_code();
    for (u32 n = 0; n < rounds; ++n) {
        unmap(window);
        map_window(window, first_code);
        load(reinterpret_cast<u32>(&some_memory)); // puts the translation into the TLB
        translation_table[window >> 20] += second_code - first_code;
        asm volatile("dsb" ::: "memory");
        load(palette);
    }
    done();
}

void secondary_main() {}
