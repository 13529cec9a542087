#include "platform.hpp"

extern "C" {
guest::u32 translation_table[4096] __attribute__((aligned(16384)));
void build_map();
void secondary_start();
void exception(guest::u32 kind, guest::u32* frame);
}

namespace guest {

namespace {

// Short-descriptor sections of 1 MiB (ARM ARM B3.5.1), read and written by PL1 and PL0.
constexpr u32 section = 2;
constexpr u32 all_access = 3u << 10;
constexpr u32 execute_never = 1u << 4;
constexpr u32 shareable = 1u << 16;
constexpr u32 device = 1u << 2; // TEX 0, C 0, B 1: shareable Device
constexpr u32 normal = 1u << 12 | 1u << 3 | 1u << 2 | shareable; // TEX 1, C 1, B 1: write-back

constexpr u32 virtual_timer_interrupt = 27;

Fault fault;
bool faults_expected = false;
volatile u32 interrupt_count = 0;
volatile u32 tick = 0;
volatile bool interrupts_end = true;

void put(char c) {
    while ((read(console + console_status) & console_status_bit) == console_busy) {
    }
    write<u32>(console, static_cast<u8>(c));
}

void arm_timer(u32 ticks) {
    asm volatile("mcr p15, 0, %0, c14, c3, 0" ::"r"(ticks));                // CNTV_TVAL
    asm volatile("mcr p15, 0, %0, c14, c3, 1" ::"r"(ticks != 0 ? 1u : 0u)); // CNTV_CTL
    asm volatile("isb");
}

void interrupt() {
    constexpr u32 iar = 0x0c;
    constexpr u32 eoir = 0x10;
    const u32 id = read(gic_interface + iar);
    if ((id & 0x3ff) == virtual_timer_interrupt) {
        interrupt_count = interrupt_count + 1;
        arm_timer(tick);
    }
    if (interrupts_end) write(gic_interface + eoir, id);
}

/// LR of the interrupted mode; the frame has SVC's.
u32 caller(const u32* frame) {
    constexpr u32 mode = 0x1f;
    constexpr u32 user = 0x10;
    u32 link = frame[13];
    if ((frame[15] & mode) == user)
        asm volatile("cps #0x1f\n\tmov %0, lr\n\tcps #0x13" : "=r"(link)); // System mode has it
    return link;
}

void note_fault(Kind kind, u32* frame) {
    constexpr unsigned lr = 13;
    constexpr unsigned pc = 14;
    constexpr unsigned spsr = 15;
    fault.kind = kind;
    ++fault.count;
    fault.pc = frame[pc];
    fault.psr = frame[spsr];
    switch (kind) {
    case Kind::data_abort:
        asm volatile("mrc p15, 0, %0, c5, c0, 0" : "=r"(fault.status));
        asm volatile("mrc p15, 0, %0, c6, c0, 0" : "=r"(fault.address));
        frame[pc] += 4;
        break;
    case Kind::prefetch_abort:
        asm volatile("mrc p15, 0, %0, c5, c0, 1" : "=r"(fault.status));
        asm volatile("mrc p15, 0, %0, c6, c0, 2" : "=r"(fault.address));
        frame[pc] = caller(frame);
        break;
    default: fault.address = frame[pc];
    }
    if (!faults_expected) {
        print("guest: exception ", static_cast<u32>(kind), " status ", Hex{fault.status},
              " address ", Hex{fault.address}, " lr ", Hex{frame[lr]}, "\n");
        failed("unexpected exception");
    }
}

} // namespace

void print_one(const char* text) {
    for (; *text != '\0'; ++text) put(*text);
}

void print_one(u32 number) {
    if (number >= 10) print_one(number / 10);
    put(static_cast<char>('0' + number % 10));
}

void print_one(Hex number) {
    for (int shift = 28; shift >= 0; shift -= 4)
        put("0123456789abcdef"[(number.value >> shift) & 15]);
}

void done() {
    print("guest: done\n");
    power_off();
}

void failed(const char* why) {
    print("guest: failed ", why, "\n");
    power_off();
}

void map(u32 address, Memory memory) {
    const u32 number = address >> 20;
    translation_table[number] = number << 20 | section | all_access | device | shareable |
                                (memory == Memory::device ? execute_never : 0);
    asm volatile("dsb\n\tmcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // TLBIALL
}

namespace {
/// The caller must break before make: unmap() first.
void set_section(u32 address, u32 descriptor) {
    translation_table[address >> 20] = descriptor;
    asm volatile("dsb\n\tmcr p15, 0, %0, c8, c3, 3\n\tdsb\n\tisb" // TLBIMVAAIS
                 ::"r"(address & ~0xfffffu)
                 : "memory");
}
} // namespace

void map_window(u32 address, u32 target) {
    const u32 attributes = translation_table[target >> 20] & 0xfffff;
    set_section(address, (target & ~0xfffffu) | attributes);
}

void unmap(u32 address) {
    set_section(address, 0);
}

u32 cpu_number() {
    u32 mpidr;
    asm volatile("mrc p15, 0, %0, c0, c0, 5" : "=r"(mpidr));
    return mpidr & 7;
}

void start_cpu(u32 number) {
    start_cpu_at(number, reinterpret_cast<u32>(&secondary_start));
}

Fault& expect_faults(bool on) {
    if (on) fault = {};
    faults_expected = on;
    return fault;
}

void enable_gic() {
    constexpr u32 gicd_ctlr = 0x000;
    constexpr u32 gicd_isenabler = 0x100;
    constexpr u32 gicc_ctlr = 0x00;
    constexpr u32 gicc_pmr = 0x04;
    write(gic_distributor + gicd_ctlr, 1u);
    write(gic_distributor + gicd_isenabler, 1u << virtual_timer_interrupt);
    write(gic_interface + gicc_pmr, 0xf0u);
    write(gic_interface + gicc_ctlr, 1u);
}

void set_tick(u32 ticks) {
    tick = ticks;
    arm_timer(ticks);
}

namespace {

std::uint64_t virtual_count() {
    u32 low, high;
    asm volatile("isb\n\tmrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high)); // CNTVCT
    return std::uint64_t{high} << 32 | low;
}

} // namespace

void wait_us(u32 microseconds) {
    u32 frequency;                                                // Hz
    asm volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency)); // CNTFRQ
    const std::uint64_t end = virtual_count() + std::uint64_t{frequency / 1'000'000} * microseconds;
    while (virtual_count() < end) {
    }
}

void end_interrupts(bool on) {
    interrupts_end = on;
}

u32 interrupts() {
    return interrupt_count;
}
void unmask_interrupts() {
    asm volatile("cpsie i" ::: "memory");
}
void mask_interrupts() {
    asm volatile("cpsid i" ::: "memory");
}

} // namespace guest

void build_map() {
    using namespace guest;
    for (u32 i = 0; i < 4096; ++i) {
        const bool is_ram = i >= ram >> 20 && i < (ram >> 20) + ram_mib;
        translation_table[i] =
            i << 20 | section | all_access | (is_ram ? normal : device | shareable | execute_never);
    }
}

void exception(guest::u32 kind, guest::u32* frame) {
    using namespace guest;
    if (static_cast<Kind>(kind) == Kind::irq) interrupt();
    else note_fault(static_cast<Kind>(kind), frame);
}
