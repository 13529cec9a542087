// Power by PSCI (Arm DEN 0022), by the conduit that the board's firmware answers.
#include "platform.hpp"

namespace guest {

namespace {

u32 firmware(u32 function, u32 a = 0, u32 b = 0, u32 c = 0) {
    register u32 r0 asm("r0") = function;
    register u32 r1 asm("r1") = a;
    register u32 r2 asm("r2") = b;
    register u32 r3 asm("r3") = c;
    asm volatile(GUEST_CONDUIT
                 : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)::"r12", "memory");
    return r0;
}

} // namespace

void start_cpu_at(u32 number, u32 entry) {
    constexpr u32 cpu_on = 0x8400'0003;
    require(firmware(cpu_on, number, entry) == 0, "a CPU does not start");
}

void wait_until_off(u32 number) {
    constexpr u32 affinity_info = 0x8400'0004, off = 1;
    while (firmware(affinity_info, number) != off) {
    }
}

void turn_off() {
    constexpr u32 cpu_off = 0x8400'0002;
    firmware(cpu_off);
    require(false, "a CPU does not go off");
}

void power_off() {
    constexpr u32 system_off = 0x8400'0008;
    firmware(system_off);
    for (;;) asm volatile("wfi");
}

void reset() {
    constexpr u32 system_reset = 0x8400'0009;
    firmware(system_reset);
    for (;;) asm volatile("wfi");
}

} // namespace guest
