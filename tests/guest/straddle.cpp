// Instructions that touch traced and untraced bytes (`--trace 0x1c1f0210+8`): each access on the
// bus that touches a traced byte must become a record, and no other.
#include "platform.hpp"

using namespace guest;

namespace {
constexpr u32 traced = palette + 0x10;
}

void guest_main() {
    asm volatile("ldrd r2, r3, [%0]" ::"r"(traced - 4) : "r2", "r3"); // the second
    asm volatile("stm %0, {r2-r5}" ::"r"(traced - 8) : "memory");     // the third and fourth
    asm volatile("ldrd r2, r3, [%0]" ::"r"(traced + 4) : "r2", "r3"); // the first
    asm volatile("ldr r2, [%0]" ::"r"(traced - 4) : "r2");            // none
    asm volatile("ldr r2, [%0]" ::"r"(traced - 2) : "r2"); // unaligned: its last two bytes
    asm volatile("ldr r2, [%0]" ::"r"(traced + 6) : "r2"); // unaligned: its first two bytes
    done();
}

void secondary_main() {}
