// What a guest can ask of a CPU other than by an access: HVC and SMC, and every encoding of the
// system registers, from PL1 and PL0. Prints each answer; the lines must be the same without the
// hypervisor.
#include "platform.hpp"
#include "psci.hpp"

#include <iterator>

using namespace guest;

namespace {

struct Registers {
    u32 r[10]{};
    u32 cpsr{};
};

constexpr u32 bx_lr = 0xe12f'ff1e;
constexpr u32 untouched = 0x5eed'0001;

/// Instructions that are written first and called one by one later; a return follows each.
constexpr u32 max_stubs = 16384;
alignas(64) u32 stubs[2 * max_stubs];

void finish_stubs() {
    constexpr u32 line = 32;
    for (u32 a = reinterpret_cast<u32>(stubs); a < reinterpret_cast<u32>(std::end(stubs));
         a += line)
        asm volatile("mcr p15, 0, %0, c7, c11, 1" ::"r"(a) : "memory");                 // DCCMVAU
    asm volatile("dsb\n\tmcr p15, 0, %0, c7, c5, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // ICIALLU
}

void write_stub(u32 n, u32 instruction) {
    stubs[2 * n] = instruction;
    stubs[2 * n + 1] = bx_lr;
}

extern "C" void run_form(const void* code, Registers* registers, u32 user);

/// Returns whether stub `n` is defined.
bool call(u32 n, Registers& registers, bool user) {
    Fault& fault = expect_faults(true);
    run_form(&stubs[2 * n], &registers, user ? 1 : 0);
    expect_faults(false);
    if (fault.count > 1 || (fault.count == 1 && fault.kind != Kind::undefined))
        failed("an instruction ends other than by itself or as undefined");
    return fault.count == 0;
}

/// Xorshift (Marsaglia 2003): the same numbers in every run.
u32 random() {
    static u32 state = 2463534242;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

u32 digest = 0;
void add(u32 word) {
    digest = (digest ^ word) * 16777619; // FNV
}

const char* level(bool user) {
    return user ? "PL0" : "PL1";
}

// HVC and SMC: undefined without other effects; or answered in r0 if the board has firmware.

void calls(u32 count) {
    constexpr u32 kinds = 2048;
    for (u32 n = 0; n < kinds; ++n) {
        const u32 immediate = random();
        constexpr u32 hvc = 0xe140'0070; // imm16 in bits 19:8 and 3:0
        constexpr u32 smc = 0xe160'0070; // imm4 in bits 3:0
        write_stub(n, n % 2 == 0 ? hvc | (immediate & 0x000f'ff0f) : smc | (immediate & 0xf));
    }
    finish_stubs();
    u32 undefined = 0;
    for (u32 n = 0; n < count; ++n) {
        Registers before;
        for (u32 i = 0; i < 8; ++i) before.r[i] = random();
        // Sometimes a function identifier of PSCI or of the SMC calling convention.
        if (n % 4 == 0) before.r[0] = 0x8400'0000 | (n & 0x1f);
        if (has_firmware && psci::is_final(before.r[0], before.r[1])) before.r[0] = 0;
        Registers after = before;
        const bool answered = call(random() % kinds, after, n % 8 == 7);
        require(!answered || has_firmware, "a call is answered");
        if (!answered) ++undefined;
        for (u32 i = 0; i < 10; ++i) {
            require(after.r[i] == before.r[i] || (answered && i == 0), "a call changed a register");
            add(after.r[i]);
        }
    }
    print("calls: ", count, ", ", undefined, " undefined, digest ", Hex{digest}, "\n");
}

// Reads all registers of a coprocessor.

void print_answer(bool user, const char* what, u32 a, u32 b, u32 c, u32 d, u32 low) {
    print(level(user), " ", what, " ", a, " c", b, " c", c, " ", d, " ", Hex{low}, "\n");
}

void read_words(u32 coprocessor, const char* name) {
    for (u32 n = 0; n < 16384; ++n) { // opc1, CRn, CRm, opc2
        constexpr u32 mrc_r0 = 0xee10'0010;
        write_stub(n, mrc_r0 | coprocessor << 8 | (n >> 11) << 21 | (n >> 7 & 15) << 16 |
                          (n >> 3 & 15) | (n & 7) << 5);
    }
    finish_stubs();
    for (const bool user : {false, true}) {
        u32 undefined = 0;
        for (u32 n = 0; n < 16384; ++n) {
            Registers registers{};
            registers.r[0] = untouched;
            if (call(n, registers, user))
                print_answer(user, name, n >> 11, n >> 7 & 15, n >> 3 & 15, n & 7, registers.r[0]);
            else ++undefined;
        }
        print(level(user), " ", name, ": ", undefined, " undefined\n");
    }
}

void read_doubles(u32 coprocessor, const char* name) {
    for (u32 n = 0; n < 256; ++n) { // opc1, CRm
        constexpr u32 mrrc_r0_r1 = 0xec51'0000;
        write_stub(n, mrrc_r0_r1 | coprocessor << 8 | (n >> 4) << 4 | (n & 15));
    }
    finish_stubs();
    for (const bool user : {false, true})
        for (u32 n = 0; n < 256; ++n) {
            Registers registers{};
            if (!call(n, registers, user)) continue;
            print(level(user), " ", name, " ", n >> 4, " c", n & 15, " ", Hex{registers.r[1]}, " ",
                  Hex{registers.r[0]}, "\n");
        }
}

/// VMRS, with VFP on and off.
void read_vfp() {
    for (u32 n = 0; n < 16; ++n) {
        constexpr u32 vmrs_r0 = 0xeef0'0a10;
        write_stub(n, vmrs_r0 | n << 16);
    }
    finish_stubs();
    for (const u32 fpexc : {u32{0x4000'0000}, u32{0}}) {
        asm volatile("mcr p10, 7, %0, cr8, cr0, 0" ::"r"(fpexc)); // VMSR FPEXC
        for (const bool user : {false, true})
            for (u32 n = 0; n < 16; ++n) {
                Registers registers{};
                if (call(n, registers, user))
                    print(level(user), " VMRS ", n, " enabled ", fpexc >> 30, " ",
                          Hex{registers.r[0]}, "\n");
            }
    }
}

/// Coprocessors that no ARMv7-A has.
void read_others() {
    u32 count = 0;
    for (const u32 coprocessor : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 12u, 13u})
        for (u32 n = 0; n < 32; ++n)
            write_stub(count++, 0xee10'0010 | coprocessor << 8 | (random() & 0x00ef'00ef));
    finish_stubs();
    for (const bool user : {false, true}) {
        u32 undefined = 0;
        for (u32 n = 0; n < count; ++n) {
            Registers registers{};
            if (!call(n, registers, user)) ++undefined;
        }
        print(level(user), " p0 to p13: ", undefined, " of ", count, " undefined\n");
    }
}

// Writes only what neither this program nor its machine needs, and only values that enable nothing.

struct Writable {
    const char* name;
    u32 coprocessor, opc1, crn, crm, opc2;
    u32 mask; ///< bits to write
};

constexpr Writable writables[] = {
    {"CSSELR", 15, 2, 0, 0, 0, 0xf},
    {"ACTLR", 15, 0, 1, 0, 1, 0},
    {"TTBR1", 15, 0, 2, 0, 1, ~0u}, // TTBCR.N is 0
    {"DFSR", 15, 0, 5, 0, 0, ~0u},
    {"IFSR", 15, 0, 5, 0, 1, ~0u},
    {"ADFSR", 15, 0, 5, 1, 0, ~0u},
    {"AIFSR", 15, 0, 5, 1, 1, ~0u},
    {"DFAR", 15, 0, 6, 0, 0, ~0u},
    {"IFAR", 15, 0, 6, 0, 2, ~0u},
    {"PAR", 15, 0, 7, 4, 0, ~0u},
    {"PMCNTENSET", 15, 0, 9, 12, 1, ~0u}, // PMCR.E is 0: nothing counts
    {"PMCNTENCLR", 15, 0, 9, 12, 2, ~0u},
    {"PMOVSR", 15, 0, 9, 12, 3, ~0u},
    {"PMSELR", 15, 0, 9, 12, 5, 0x1f},
    {"PMXEVTYPER", 15, 0, 9, 13, 1, ~0u},
    {"PMUSERENR", 15, 0, 9, 14, 0, ~0u},
    {"PMINTENSET", 15, 0, 9, 14, 1, ~0u},
    {"PMINTENCLR", 15, 0, 9, 14, 2, ~0u},
    {"L2CTLR", 15, 1, 9, 0, 2, 0},
    {"PRRR", 15, 0, 10, 2, 0, ~0u}, // SCTLR.TRE is 0
    {"NMRR", 15, 0, 10, 2, 1, ~0u},
    {"AMAIR0", 15, 0, 10, 3, 0, ~0u},
    {"AMAIR1", 15, 0, 10, 3, 1, ~0u},
    {"CONTEXTIDR", 15, 0, 13, 0, 1, ~0u},
    {"TPIDRURW", 15, 0, 13, 0, 2, ~0u},
    {"TPIDRURO", 15, 0, 13, 0, 3, ~0u},
    {"TPIDRPRW", 15, 0, 13, 0, 4, ~0u},
    {"CNTKCTL", 15, 0, 14, 1, 0, 0x3ff},
    {"DBGWFAR", 14, 0, 0, 6, 0, ~0u},
    {"DBGVCR", 14, 0, 0, 7, 0, ~0u}, // DBGDSCR.MDBGen is 0
    {"DBGDSCR", 14, 0, 0, 2, 2, 1u << 12},
    {"DBGBVR0", 14, 0, 0, 0, 4, ~0u},
    {"DBGBVR5", 14, 0, 0, 5, 4, ~0u},
    {"DBGBCR0", 14, 0, 0, 0, 5, ~1u}, // not enabled
    {"DBGBCR5", 14, 0, 0, 5, 5, ~1u},
    {"DBGWVR0", 14, 0, 0, 0, 6, ~0u},
    {"DBGWCR0", 14, 0, 0, 0, 7, ~1u},
    {"DBGWVR3", 14, 0, 0, 3, 6, ~0u},
    {"DBGWCR3", 14, 0, 0, 3, 7, ~1u},
    {"DBGBXVR5", 14, 0, 1, 5, 1, ~0u},
    {"DBGOSLAR", 14, 0, 1, 0, 4, ~0u},
    {"DBGOSDLR", 14, 0, 1, 3, 4, 1},
    {"DBGCLAIMSET", 14, 0, 7, 8, 6, ~0u},
    {"DBGCLAIMCLR", 14, 0, 7, 9, 6, ~0u},
    {"TEECR", 14, 6, 0, 0, 0, 1},
    {"TEEHBR", 14, 6, 1, 0, 0, ~0u},
    {"JOSCR", 14, 7, 1, 0, 0, 0},
};

u32 fields_of(const Writable& w) {
    return w.coprocessor << 8 | w.opc1 << 21 | w.crn << 16 | w.crm | w.opc2 << 5;
}

void print_register(u32 n, bool user) {
    Registers registers{};
    if (call(2 * n, registers, user)) print(" ", Hex{registers.r[0]});
    else print(" undefined");
}

void write_registers(bool user) {
    for (u32 n = 0; n < std::size(writables); ++n) {
        constexpr u32 mrc_r0 = 0xee10'0010;
        constexpr u32 mcr_r0 = 0xee00'0010;
        write_stub(2 * n, mrc_r0 | fields_of(writables[n]));
        write_stub(2 * n + 1, mcr_r0 | fields_of(writables[n]));
    }
    finish_stubs();
    for (u32 n = 0; n < std::size(writables); ++n) {
        const u32 mask = writables[n].mask;
        Registers old{};
        call(2 * n, old, false);
        print(level(user), " write ", writables[n].name);
        for (const u32 value : {u32{0}, ~u32{0}, u32{0x5a5a'5a5a}, random()}) {
            Registers registers{};
            registers.r[0] = (old.r[0] & ~mask) | (value & mask);
            if (!call(2 * n + 1, registers, user)) print(" refused");
            print_register(n, user);
        }
        call(2 * n + 1, old, false);
        print("\n");
    }
}

} // namespace

void guest_main() {
    asm volatile("mcr p15, 0, %0, c9, c12, 0" ::"r"(0)); // PMCR: nothing counts
    read_words(15, "p15");
    read_words(14, "p14");
    read_doubles(15, "p15");
    read_doubles(14, "p14");
    read_others();
    for (const bool user : {false, true}) write_registers(user);
    read_vfp();
    calls(1'000'000);
    done();
}

void secondary_main() {}
