// Each way in which an instruction that accesses a device can end abnormally: the bus returns an
// error, another CPU unmaps the page, the next instruction cannot be fetched, an alignment fault,
// and the guest's own breakpoints and watchpoints. From SVC and User mode. Prints the fault
// registers, so that the lines can be compared with those without a hypervisor.
#include "codes.hpp"
#include "platform.hpp"
#include "run_form.hpp"

#include <atomic>
#include <initializer_list>

using namespace guest;

namespace {

/// Device words: r0 points to the first; r1 is an offset, the others have a pattern.
Registers registers_at(u32 address) {
    Registers registers{{address, 8}, 0};
    for (u32 i = 2; i < 10; ++i) registers.r[i] = i * 0x1111'1111u;
    return registers;
}

/// Prints the fault of `code`, and the registers that it changed. `where`: what is at `address`.
void try_code(const char* text, void (*code)(), u32 address, bool user, const char* where = "") {
    const Registers before = registers_at(address);
    Registers after = before;
    const Fault fault = faults_of([&] { run_form(code, &after, user); });
    const u32 start = reinterpret_cast<u32>(code) & ~1u;
    print("end: ", user ? "usr " : "svc ", where, text, ": kind ", static_cast<u32>(fault.kind),
          " count ", fault.count);
    if (fault.count != 0)
        print(" status ", Hex{fault.status}, " address ", Hex{fault.address}, " pc +",
              fault.pc - start, " psr ", Hex{fault.psr & ~0x0f00'0000u});
    for (u32 i = 0; i < 10; ++i)
        if (after.r[i] != before.r[i]) print(" r", i, " ", Hex{after.r[i]});
    print("\n");
}

#define ENTRIES(F)                                                                                 \
    F(ldr, "arm", "ldr r2, [r0]")                                                                  \
    F(ldrb, "arm", "ldrb r2, [r0, #3]")                                                            \
    F(str, "arm", "str r2, [r0]")                                                                  \
    F(strh, "arm", "strh r2, [r0, #2]")                                                            \
    F(ldr_post, "arm", "ldr r2, [r0], #4")                                                         \
    F(str_pre, "arm", "str r2, [r0, #4]!")                                                         \
    F(ldrd, "arm", "ldrd r2, r3, [r0]")                                                            \
    F(strd, "arm", "strd r2, r3, [r0]")                                                            \
    F(ldm, "arm", "ldm r0!, {r2, r3, r4}")                                                         \
    F(stm, "arm", "stm r0!, {r2, r3, r4}")                                                         \
    F(vldr, "arm", "vldr d0, [r0]")                                                                \
    F(vstm, "arm", "vstm r0!, {d0, d1}")                                                           \
    F(vld1, "arm", "vld1.32 {d0}, [r0]")                                                           \
    F(t_strd, "thumb", "strd r2, r3, [r0]")                                                        \
    F(t_ldm, "thumb", "ldm.w r0!, {r2, r3}")                                                       \
    F(t_ldr, "thumb", "ldr.w r2, [r0]")                                                            \
    F(t_str, "thumb", "str.w r2, [r0]")                                                            \
    F(t_post, "thumb", "ldr.w r2, [r0], #4")
ENTRIES(CODE)
constexpr Code codes[] = {ENTRIES(ENTRY)};

void external_aborts() {
    if (aborting == 0) return;
    for (const bool user : {false, true})
        for (const Code& c : codes) try_code(c.text, c.code, aborting, user);
    print("ends: the bus answers with an error\n");
}

/// SCTLR.A: the fault is a stage 1 fault (ARM ARM A3.2.2), so no device is accessed.
void alignment_faults() {
    u32 sctlr;
    asm volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(sctlr));
    asm volatile("mcr p15, 0, %0, c1, c0, 0\n\tisb" ::"r"(sctlr | 2));
    for (const bool user : {false, true})
        for (const Code& c : codes)
            if (c.code != code_ldrb && c.code != code_strh)
                try_code(c.text, c.code, palette + 1, user);
    asm volatile("mcr p15, 0, %0, c1, c0, 0\n\tisb" ::"r"(sctlr));
    print("ends: alignment faults\n");
}

/// The access is the last instruction in a MiB whose successor is unmapped: it is carried out, and
/// then the guest takes the prefetch abort.
void last_in_memory() {
    constexpr u32 ldr_r2_r0 = 0xe590'2000;
    constexpr u32 str_r2_r0_post_4 = 0xe480'2004;
    constexpr u32 last = window + 0xf'fffc;
    unmap(window + (1u << 20));
    map_window(window, spare_ram);
    for (const u32 instruction : {ldr_r2_r0, str_r2_r0_post_4}) {
        write(last, instruction);
        asm volatile("dsb\n\tmcr p15, 0, %0, c7, c5, 0\n\tdsb\n\tisb" ::"r"(0)
                     : "memory"); // ICIALLU
        for (const bool user : {false, true})
            try_code("in front of nothing", reinterpret_cast<void (*)()>(last), palette, user);
    }
    unmap(window);
    print("ends: the next instruction is not there\n");
}

/// If half of a doubleword is in memory, QEMU logs the other half as bytes, which verify does not
/// know.
bool moves_doublewords(const Code& code) {
    return code.code == code_vldr || code.code == code_vstm || code.code == code_vld1;
}

/// Ends the translations that this CPU has.
void forget_translations() {
    asm volatile("dsb\n\tmcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // TLBIALL
}

/// Instructions of several words that begin at a device page's last word and end in the next page:
/// in one that is not mapped, may only be read, or only by PL1, or in a device that aborts.
void halfway() {
    extern u32 translation_table[] asm("translation_table");
    constexpr u32 base = window + (2u << 20);
    constexpr u32 coarse = 1;
    constexpr u32 device = 0x407; // a small page, execute-never (B3.5.1)
    constexpr u32 memory = 0x44e; // write-back
    constexpr u32 everyone = 0x30;
    constexpr u32 read_only = 0x230;
    constexpr u32 privileged = 0x10;
    constexpr struct {
        const char* where;
        u32 second; ///< the next page's descriptor
    } cases[] = {
        {"halfway to nothing: ", 0},
        {"halfway to read-only memory: ", spare_ram | memory | read_only},
        {"halfway to memory of PL1: ", spare_ram | memory | privileged},
    };
    alignas(1024) static u32 pages[256];
    translation_table[base >> 20] = reinterpret_cast<u32>(pages) | coarse;
    pages[0] = (palette & ~0xfffu) | device | everyone;
    for (const auto& c : cases) {
        pages[1] = c.second;
        forget_translations();
        for (const bool user : {false, true})
            for (const Code& code : codes)
                if (c.second == 0 || !moves_doublewords(code))
                    try_code(code.text, code.code, base + 0xffc, user, c.where);
    }
    unmap(base);
    for (const Code& code : codes)
        if (aborting != 0 && !moves_doublewords(code))
            try_code(code.text, code.code, gic_distributor + 0xffc, false, "halfway to an error: ");
    print("ends: halfway\n");
}

constexpr u32 alias = window + (1u << 20);      ///< of the palette's MiB
constexpr u32 code_alias = window + (3u << 20); ///< of spare_ram
std::atomic<u32> taken{alias};                  ///< by CPU 1, again and again
std::atomic<u32> phase{0};

/// CPU 1 unmaps the code and maps it again while CPU 0 executes it.
void code_taken_away() {
    constexpr u32 rounds = 5'000;
    constexpr u32 translation_fault = 0x5; // a section's (B3.13.3)
    u32 values = 0;
    u32 faults = 0;
    write(spare_ram, 0xe890'0006u);     // ldm r0, {r1, r2}
    write(spare_ram + 4, 0xe12f'ff1eu); // bx lr
    asm volatile("dsb\n\tmcr p15, 0, %0, c7, c5, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // ICIALLU
    write(palette, 0x600d'600du);
    map_window(code_alias, spare_ram);
    taken.store(code_alias);
    Fault& fault = expect_faults(true);
    for (u32 n = 0; n < rounds || values < 100 || faults < 100; ++n) {
        const u32 before = fault.count;
        u32 value = 0;
        asm volatile("mov r0, %1\n\tmov r1, #0\n\tblx %2\n\tmov %0, r1"
                     : "=r"(value)
                     : "r"(palette), "r"(code_alias)
                     : "r0", "r1", "r2", "lr", "memory");
        if (fault.count == before) {
            require(value == 0x600d'600d, "a load has another value");
            ++values;
        } else {
            require(fault.count == before + 1 && fault.kind == Kind::prefetch_abort &&
                        (fault.status & 0x40f) == translation_fault &&
                        (fault.address & ~4u) == code_alias,
                    "code that is not there is something else than a prefetch abort");
            ++faults;
        }
    }
    expect_faults(false);
    print("ends: code taken away, loads and prefetch aborts both seen and right\n");
}

/// CPU 1 unmaps the page and maps it again while CPU 0 reads it.
void unmapped_meanwhile() {
    constexpr u32 rounds = 20'000;
    constexpr u32 translation_fault = 0x5; // a section's (B3.13.3)
    const u32 word = alias + (palette & 0xf'ffff);
    u32 values = 0;
    u32 faults = 0;
    write(palette, 0x600d'600du);
    map_window(alias, palette);
    start_cpu(1);
    phase.store(1);
    Fault& fault = expect_faults(true);
    for (u32 n = 0; n < rounds || values < 100 || faults < 100; ++n) {
        const u32 before = fault.count;
        u32 value = 0x0bad'0bad;
        asm volatile("ldr %0, [%1]" : "+r"(value) : "r"(word) : "memory");
        if (fault.count == before) {
            require(value == 0x600d'600d, "a load has another value");
            ++values;
        } else {
            require(fault.count == before + 1 && fault.kind == Kind::data_abort &&
                        (fault.status & 0x40f) == translation_fault && fault.address == word &&
                        value == 0x0bad'0bad,
                    "a load that found no page says something else");
            ++faults;
        }
    }
    expect_faults(false);
    print("ends: unmapped meanwhile, loads and faults both seen and right\n");
}

// The debug unit (ARM ARM C3.2, C11.11).
void set_breakpoint(u32 address, u32 control) {
    asm volatile("mcr p14, 0, %0, c0, c0, 4\n\tmcr p14, 0, %1, c0, c0, 5\n\tisb" ::"r"(address),
                 "r"(control));
}
void set_watchpoint(u32 address, u32 control) {
    asm volatile("mcr p14, 0, %0, c0, c0, 6\n\tmcr p14, 0, %1, c0, c0, 7\n\tisb" ::"r"(address),
                 "r"(control));
}
u32 debug_status() {
    u32 dscr;
    asm volatile("mrc p14, 0, %0, c0, c1, 0" : "=r"(dscr));
    return dscr;
}

void own_breakpoints() {
    constexpr u32 monitor_mode = 1u << 15;
    constexpr u32 method_of_entry = 0xf << 2;
    constexpr u32 any_mode_arm = 0x1e7;                        // all bytes, PL0 and PL1, enabled
    constexpr u32 any_mode_any_access = 0x1ff;                 // likewise, loads and stores
    asm volatile("mcr p14, 0, %0, c1, c0, 4\n\tisb" ::"r"(0)); // DBGOSLAR: unlocked
    asm volatile("mcr p14, 0, %0, c0, c2, 2\n\tisb" ::"r"(debug_status() | monitor_mode));
    for (const bool user : {false, true}) {
        for (const u32 offset : {0u, 4u}) {
            set_breakpoint(reinterpret_cast<u32>(code_ldr) + offset, any_mode_arm);
            try_code(offset == 0 ? "breakpoint on it" : "breakpoint behind it", code_ldr, palette,
                     user);
            set_breakpoint(0, 0);
            print("  entry ", debug_status() & method_of_entry, "\n");
        }
        for (const u32 offset : {0u, 4u}) {
            set_watchpoint(palette + offset, any_mode_any_access);
            try_code(offset == 0 ? "watchpoint on the word" : "watchpoint beside it", code_ldr,
                     palette, user);
            try_code("likewise", code_str, palette, user);
            set_watchpoint(0, 0);
            print("  entry ", debug_status() & method_of_entry, "\n");
        }
        set_watchpoint(palette + 4, any_mode_any_access);
        for (const Code& code : codes)
            try_code(code.text, code.code, palette, user, "watchpoint on the second word: ");
        set_watchpoint(0, 0);
    }
    asm volatile("mcr p14, 0, %0, c0, c2, 2\n\tisb" ::"r"(debug_status() & ~monitor_mode));
    print("ends: the guest's own breakpoints and watchpoints\n");
}

} // namespace

void guest_main() {
    external_aborts();
    alignment_faults();
    last_in_memory();
    own_breakpoints();
    halfway();
    unmapped_meanwhile();
    code_taken_away();
    phase.store(2);
    while (phase.load() != 3) {
    }
    done();
}

void secondary_main() {
    while (phase.load() != 1) {
    }
    while (phase.load() == 1) {
        const u32 address = taken.load();
        unmap(address);
        for (u32 i = 0; i < 50; ++i) asm volatile("nop");
        map_window(address, address == alias ? palette : spare_ram);
        for (u32 i = 0; i < 200; ++i) asm volatile("nop");
    }
    phase.store(3);
}
