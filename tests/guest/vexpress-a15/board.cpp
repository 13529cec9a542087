#include "platform.hpp"

namespace guest {

namespace {
constexpr u32 sysreg = 0x1c01'0000; // sysreg@10000 (DUI 0447 4.3)
}

void start_cpu_at(u32 number, u32 entry) {
    constexpr u32 sys_flagsset = 0x30;
    constexpr u32 sys_flagsclr = 0x34;
    constexpr u32 gicd_sgir = 0xf00;
    enable_gic(); // it sleeps until an interrupt
    write(sysreg + sys_flagsclr, ~0u);
    write(sysreg + sys_flagsset, entry);
    asm volatile("dsb" ::: "memory");
    write(gic_distributor + gicd_sgir, 1u << (16 + number));
}

namespace {
[[noreturn]] void end(u32 start_write) {
    constexpr u32 sys_cfgdata = 0xa0;
    constexpr u32 sys_cfgctrl = 0xa4;
    write(sysreg + sys_cfgdata, 0u);
    write(sysreg + sys_cfgctrl, start_write);
    for (;;) asm volatile("wfi");
}
} // namespace

void power_off() {
    end(0xc080'0000);
}

void reset() {
    end(0xc090'0000);
}

} // namespace guest
