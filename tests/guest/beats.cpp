// Instructions that make several accesses, or move registers other than core registers: VFP, NEON,
// SWP, LDM and STM of User mode's registers, SRS. This only executes them, on words (the palette)
// and on bytes that are separate registers; `mmioscope verify` checks the trace.
#include "platform.hpp"

using namespace guest;

namespace {

struct Beat {
    const char* text;
    void (*code)();
};

/// GICD_ITARGETSR<n> of interrupts that no test uses.
constexpr u32 lanes = gic_distributor + 0x840;

#define NAME_OF(line) beat_##line
#define TEXT_OF(line) "beat_" #line
#define BEAT_AT(line, isa, text)                                                                   \
    asm(".pushsection .text.beats, \"ax\"\n." isa "\n.balign 4\n"                                  \
        ".type " TEXT_OF(line) ", %function\n.global " TEXT_OF(line) "\n" TEXT_OF(                 \
            line) ":\n" text "\nbx lr\n.popsection\n.arm");                                        \
    extern "C" void NAME_OF(line)();                                                               \
    [[gnu::section(".forms"), gnu::used]] const Beat entry_##line{isa " " text, NAME_OF(line)};
#define BEAT_LINE(line, ...) BEAT_AT(line, __VA_ARGS__)
#define ARM(text) BEAT_LINE(__LINE__, "arm", text)
#define THUMB(text) BEAT_LINE(__LINE__, "thumb", text)

// clang-format off: one a line
asm(".arch armv7ve\n.fpu neon-vfpv4\n.arch_extension virt");

// VFP: words (A3.5.3).
ARM("vldr s0, [r0]")
ARM("vldr s31, [r0, #4]")
ARM("vldr d3, [r0, #8]")
ARM("vldr d31, [r0, #-8]")
ARM("vstr s1, [r0]")
ARM("vstr s30, [r0, #-4]")
ARM("vstr d3, [r0, #8]")
ARM("vstr d16, [r0]")
ARM("vldmia r0, {s3}")
ARM("vldmia r0!, {s1-s5}")
ARM("vldmdb r0!, {d8-d10}")
ARM("vldmia r0, {d15-d18}")
ARM("vstmia r0, {s29-s31}")
ARM("vstmdb r0!, {d0-d1}")
ARM("vstmia r0!, {d20-d22}")
THUMB("vldr d0, [r0, #8]")
THUMB("vstmia r0!, {d6-d7}")
THUMB("itt ne; vldrne s2, [r0]; vstrne d2, [r0, #8]")

// NEON, whole registers.
ARM("vld1.8 {d0}, [r0]")
ARM("vld1.16 {d1-d2}, [r0]!")
ARM("vld1.32 {d3-d5}, [r0], r1")
ARM("vld1.64 {d28-d31}, [r0]")
ARM("vst1.8 {d0}, [r0]")
ARM("vst1.16 {d1-d2}, [r0]!")
ARM("vst1.32 {d3-d5}, [r0], r1")
ARM("vst1.64 {d28-d31}, [r0]")
ARM("vld2.8 {d0-d1}, [r0]")
ARM("vld2.16 {d2,d4}, [r0]")
ARM("vld2.32 {d2-d5}, [r0]!")
ARM("vld3.8 {d0-d2}, [r0]")
ARM("vld3.16 {d0,d2,d4}, [r0]")
ARM("vld3.32 {d29-d31}, [r0]")
ARM("vld4.8 {d0-d3}, [r0]")
ARM("vld4.16 {d0,d2,d4,d6}, [r0], r1")
ARM("vld4.32 {d0-d3}, [r0]")
ARM("vst2.8 {d0-d1}, [r0]")
ARM("vst2.32 {d2-d5}, [r0]!")
ARM("vst3.16 {d0,d2,d4}, [r0]")
ARM("vst3.32 {d29-d31}, [r0]")
ARM("vst4.8 {d0-d3}, [r0]")
ARM("vst4.16 {d0,d2,d4,d6}, [r0], r1")
THUMB("vld1.32 {d0-d1}, [r0]!")
THUMB("vst4.32 {d16-d19}, [r0]")

// NEON, one lane and all lanes.
ARM("vld1.8 {d0[7]}, [r0]")
ARM("vld1.16 {d17[2]}, [r0]!")
ARM("vld1.32 {d2[1]}, [r0]")
ARM("vst1.8 {d0[3]}, [r0]")
ARM("vst1.16 {d31[1]}, [r0]!")
ARM("vst1.32 {d2[0]}, [r0]")
ARM("vld2.8 {d0[1],d1[1]}, [r0]")
ARM("vld2.16 {d0[3],d2[3]}, [r0]")
ARM("vst3.32 {d0[1],d2[1],d4[1]}, [r0]")
ARM("vst3.8 {d0[6],d1[6],d2[6]}, [r0]")
ARM("vld4.16 {d0[2],d1[2],d2[2],d3[2]}, [r0]!")
ARM("vst4.32 {d1[0],d3[0],d5[0],d7[0]}, [r0]")
ARM("vld1.8 {d0[]}, [r0]")
ARM("vld1.16 {d30[],d31[]}, [r0]")
ARM("vld1.32 {d0[]}, [r0]!")
ARM("vld2.16 {d0[],d1[]}, [r0]")
ARM("vld3.8 {d0[],d2[],d4[]}, [r0]")
ARM("vld4.32 {d0[],d1[],d2[],d3[]}, [r0]")
THUMB("vld3.16 {d1[1],d3[1],d5[1]}, [r0]")

// A read, then a write; the assembler would warn about the mnemonics.
ARM(".inst 0xe1002093 @ swp r2, r3, [r0]")
ARM(".inst 0xe1002092 @ swp r2, r2, [r0]")
ARM(".inst 0xe1402093 @ swpb r2, r3, [r0]")

// User mode's registers, and those that an exception handler saves.
ARM("mov r2, sp; mov r3, lr; stm r0, {r2, sp, lr}^; mov lr, r3")
ARM("stmdb r0, {r1, r8-r12, sp, lr}^")
ARM("stmia r0, {r2}^")
ARM("cps #0x11; mov r8, #0x88; stmia r0, {r7-r9}^; stmia r0, {r7-r9}; cps #0x13")
ARM("mrs r3, sp_usr; ldmia r0, {r2, sp}^; nop; msr sp_usr, r3")
ARM("mrs r3, sp_und; msr sp_und, r0; srsdb sp!, #0x1b; srsia sp, #0x1b; msr sp_und, r3")
THUMB("mrs r3, sp_und; msr sp_und, r0; srsia sp!, #0x1b; msr sp_und, r3")

// Words of core registers.
ARM("ldrd r2, r3, [r0, -r1]")
ARM("strd r2, r3, [r0, r1]!")
ARM("ldmib r0, {r2, r3}")
ARM("stmda r0!, {r2, r3}")
THUMB("ldrd r2, r9, [r0, #-8]!")
THUMB("push {r2}; mov r2, sp; mov sp, r0; push {r1, r3}; pop {r3}; mov sp, r2; pop {r2}")

// Big-endian data: swaps the bytes of each word or element, and the words of doublewords.
ARM("setend be; vldr d3, [r0]; vstr d4, [r0, #8]; vldr s2, [r0]; setend le")
ARM("setend be; vldmia r0, {d0-d1}; vstmia r0, {s1-s3}; setend le")
ARM("setend be; vld1.16 {d0}, [r0]; vst1.32 {d1}, [r0]; vld1.8 {d2}, [r0]; setend le")
ARM("setend be; vst2.16 {d0-d1}, [r0]; vld4.32 {d0[1],d1[1],d2[1],d3[1]}, [r0]; setend le")
ARM("setend be; ldrd r2, r3, [r0]; stm r0, {r2, r3}; .inst 0xe1002093; setend le")
// clang-format on

} // namespace

extern "C" {
extern const Beat forms_begin[], forms_end[];
void run_beat(void (*code)(), u32 device);
}

// r2 to r9 and D0 to D31 have a different word each.
asm(R"(
    .pushsection .text.run_beat, "ax"
    .arm
    .global run_beat
run_beat:
    push {r4-r11, lr}
    mov r12, r0
    mov r10, r1
    adr r11, patterns
    ldm r11, {r0-r9}
    vldmia r11!, {d0-d15}
    vldmia r11!, {d16-d31}
    mov r0, r10
    mov r1, #8
    movs r11, #1
    blx r12
    pop {r4-r11, pc}
    .balign 8
patterns:
    .set word, 0x81828384
    .rept 64
    .word word
    .set word, word + 0x01030507
    .endr
    .popsection
)");

void guest_main() {
    constexpr u32 devices[] = {palette + 0x40, palette + 0x44, lanes, lanes + 4};
    for (const u32 device : devices)
        for (const Beat* beat = forms_begin; beat != forms_end; ++beat)
            run_beat(beat->code, device);
    print("beats: ", static_cast<u32>(forms_end - forms_begin), " forms at 4 addresses\n");
    done();
}

void secondary_main() {}
