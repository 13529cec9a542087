// A guest that keeps a second-level table in a device: it translates addresses, loads and stores
// through it, in memory and in the device. Prints what it finds, so that the lines can be compared
// with those without a hypervisor.
#include "codes.hpp"
#include "platform.hpp"
#include "run_form.hpp"

#include <initializer_list>

using namespace guest;

extern "C" u32 translation_table[4096];

namespace {

// Short descriptors (ARM ARM B3.5.1). The table's upper half is the palette.
constexpr u32 coarse = 1;
constexpr u32 walked = window + (128u << 12); ///< the first page that it maps
constexpr u32 everyone = 0x30;
constexpr u32 memory = 0x44e | everyone;
constexpr u32 device = 0x407 | everyone;

constexpr u32 in_memory = walked + 0x20;
constexpr u32 in_device = walked + 0x1000 + 0x3c0; ///< of the palette, behind the descriptors
constexpr u32 nowhere = walked + 0x2000;

alignas(4096) u32 page[1024];

void forget_translations() {
    asm volatile("dsb\n\tmcr p15, 0, %0, c8, c7, 0\n\tdsb\n\tisb" ::"r"(0) : "memory"); // TLBIALL
}

u32 translated(u32 address, u32 operation) {
    u32 par;
    switch (operation) {
    case 0: asm volatile("mcr p15, 0, %0, c7, c8, 0\n\tisb" ::"r"(address)); break;  // ATS1CPR
    case 1: asm volatile("mcr p15, 0, %0, c7, c8, 1\n\tisb" ::"r"(address)); break;  // ATS1CPW
    case 2: asm volatile("mcr p15, 0, %0, c7, c8, 2\n\tisb" ::"r"(address)); break;  // ATS1CUR
    default: asm volatile("mcr p15, 0, %0, c7, c8, 3\n\tisb" ::"r"(address)); break; // ATS1CUW
    }
    asm volatile("mrc p15, 0, %0, c7, c4, 0" : "=r"(par));
    return par;
}

#define ENTRIES(F)                                                                                 \
    F(ldr, "arm", "ldr r2, [r0]")                                                                  \
    F(str, "arm", "str r2, [r0]")                                                                  \
    F(strb, "arm", "strb r2, [r0, #3]")                                                            \
    F(ldr_post, "arm", "ldr r2, [r0], #4")                                                         \
    F(ldm, "arm", "ldm r0!, {r2, r3, r4}")                                                         \
    F(stm, "arm", "stm r0!, {r2, r3, r4}")                                                         \
    F(strd, "thumb", "strd r2, r3, [r0]")                                                          \
    F(ldrh, "thumb", "ldrh.w r2, [r0]")                                                            \
    F(vldr, "arm", "vldr d0, [r0]")
ENTRIES(CODE)
constexpr Code codes[] = {ENTRIES(ENTRY)};

void try_code(const char* where, const Code& code, u32 address, bool user) {
    Registers registers{{address}, 0};
    for (u32 n = 2; n < register_count; ++n) registers.r[n] = n * 0x1111'1111u;
    forget_translations();
    const Fault fault = faults_of([&] { run_form(code.code, &registers, user); });
    print("table: ", user ? "usr " : "svc ", where, code.text, ": faults ", fault.count);
    if (fault.count != 0) print(" status ", Hex{fault.status}, " address ", Hex{fault.address});
    for (const u32 value : registers.r) print(" ", Hex{value});
    print("\n");
}

} // namespace

void guest_main() {
    for (u32 n = 0; n < 1024; ++n) page[n] = 0x600d'0000 + n;
    write(palette, reinterpret_cast<u32>(page) | memory);
    write(palette + 4, clcd | device);
    write(palette + 8, 0u);
    translation_table[window >> 20] = clcd | coarse;
    for (const u32 address : {in_memory, in_device, nowhere})
        for (u32 operation = 0; operation < 4; ++operation) {
            forget_translations();
            print("table: ATS1C ", operation, " ", Hex{address}, ": ",
                  Hex{translated(address, operation)}, "\n");
        }
    for (const bool user : {false, true})
        for (const Code& code : codes) {
            try_code("memory ", code, in_memory, user);
            try_code("device ", code, in_device, user);
            try_code("nowhere ", code, nowhere, user);
        }
    for (u32 offset = 0x3c0; offset < 0x3e0; offset += 4)
        print("table: then ", Hex{read(clcd + offset)}, "\n");
    done();
}

void secondary_main() {}
