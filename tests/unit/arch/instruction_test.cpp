// Words as GNU as 2.40 assembles the text beside them.
#include "arch/instruction.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace mmioscope::arch;

namespace {

/// "4 r1", "1s r6" (size, sign, registers), "4 r0 r3 @r2-4" (first address), "access" (not of
/// known registers), "none"; "+pc" where it loads PC.
std::string describe(const Instruction& i) {
    if (!i.load_store) return "none";
    std::string text = "access";
    if (i.beats != 0) {
        text = std::to_string(1u << i.log2_size) + (i.sign_extend ? "s" : "");
        for (unsigned n = 0; n < i.beats; ++n) text += " r" + std::to_string(i.reg[n]);
        if (i.has_base)
            text +=
                " @r" + std::to_string(i.base) + (i.first < 0 ? "" : "+") + std::to_string(i.first);
    }
    return text + (i.loads_pc ? " +pc" : "");
}

struct Case {
    std::uint32_t word;
    const char* assembly;
    const char* expected;
};

constexpr Case arm_cases[] = {
    {0xe592'1004, "ldr r1, [r2, #4]", "4 r1"},
    {0xe492'1004, "ldr r1, [r2], #4", "4 r1"},
    {0xe5b2'1004, "ldr r1, [r2, #4]!", "4 r1"},
    {0xe792'1103, "ldr r1, [r2, r3, lsl #2]", "4 r1"},
    {0xe582'f000, "str pc, [r2]", "4 r15"},
    {0xe592'f000, "ldr pc, [r2]", "4 r15 +pc"},
    {0xe5d2'3001, "ldrb r3, [r2, #1]", "1 r3"},
    {0xe5c2'3000, "strb r3, [r2]", "1 r3"},
    {0xe4b2'1000, "ldrt r1, [r2]", "4 r1"},
    {0xe1d2'40b0, "ldrh r4, [r2]", "2 r4"},
    {0xe182'40b5, "strh r4, [r2, r5]", "2 r4"},
    {0xe1d2'60d0, "ldrsb r6, [r2]", "1s r6"},
    {0xe1d2'60f2, "ldrsh r6, [r2, #2]", "2s r6"},
    {0xe1c2'40d0, "ldrd r4, r5, [r2]", "4 r4 r5"},
    {0xe1e2'40f8, "strd r4, r5, [r2, #8]!", "4 r4 r5"},
    {0xe892'0109, "ldm r2, {r0, r3, r8}", "4 r0 r3 r8 @r2+0"},
    {0xe922'4002, "stmdb r2!, {r1, lr}", "4 r1 r14 @r2-8"},
    {0xe992'0070, "ldmib r2, {r4, r5, r6}", "4 r4 r5 r6 @r2+4"},
    {0xe802'0030, "stmda r2, {r4, r5}", "4 r4 r5 @r2-4"},
    {0xe892'8001, "ldm r2, {r0, pc}", "4 r0 r15 @r2+0 +pc"},
    {0xe8bd'8010, "pop {r4, pc}", "4 r4 r15 @r13+0 +pc"},
    {0xe8d2'0003, "ldm r2, {r0, r1}^", "access"},
    {0xf892'0a00, "rfeia r2", "access +pc"},
    {0xf8cd'0513, "srsia sp, #19", "access"},
    {0xe192'1f9f, "ldrex r1, [r2]", "access"},
    {0xe182'0f91, "strex r0, r1, [r2]", "access"},
    {0xe102'0091, "swp r0, r1, [r2]", "access"},
    {0xed92'0a00, "vldr s0, [r2]", "access"},
    {0xec82'0b08, "vstmia r2, {d0-d3}", "access"},
    {0xf422'078f, "vld1.32 {d0}, [r2]", "access"},
    {0xed92'5e00, "ldc p14, c5, [r2]", "access"},
    {0xe082'1003, "add r1, r2, r3", "none"},
    {0xe001'0392, "mul r1, r2, r3", "none"},
    {0xe3a0'1001, "mov r1, #1", "none"},
    {0xeaff'fffe, "b .", "none"},
    {0xf5d2'f000, "pld [r2]", "none"},
};

constexpr Case thumb_cases[] = {
    {0x6851, "ldr r1, [r2, #4]", "4 r1"},
    {0x58d1, "ldr r1, [r2, r3]", "4 r1"},
    {0x4902, "ldr r1, [pc, #8]", "4 r1"},
    {0x9902, "ldr r1, [sp, #8]", "4 r1"},
    {0x70d1, "strb r1, [r2, #3]", "1 r1"},
    {0x8851, "ldrh r1, [r2, #2]", "2 r1"},
    {0x52d1, "strh r1, [r2, r3]", "2 r1"},
    {0x56d1, "ldrsb r1, [r2, r3]", "1s r1"},
    {0x5ed1, "ldrsh r1, [r2, r3]", "2s r1"},
    {0xb503, "push {r0, r1, lr}", "4 r0 r1 r14 @r13-12"},
    {0xbc03, "pop {r0, r1}", "4 r0 r1 @r13+0"},
    {0xbd01, "pop {r0, pc}", "4 r0 r15 @r13+0 +pc"},
    {0xca03, "ldmia r2!, {r0, r1}", "4 r0 r1 @r2+0"},
    {0xc203, "stmia r2!, {r0, r1}", "4 r0 r1 @r2+0"},
    {0x18d1, "adds r1, r2, r3", "none"},
    {0xbf00, "nop", "none"},
    {0x4770, "bx lr", "none"},
    {0xf8d2'8008, "ldr.w r8, [r2, #8]", "4 r8"},
    {0xf8d2'f000, "ldr.w pc, [r2]", "4 r15 +pc"},
    {0xf882'8000, "strb.w r8, [r2]", "1 r8"},
    {0xf932'8013, "ldrsh.w r8, [r2, r3, lsl #1]", "2s r8"},
    {0xf912'8c04, "ldrsb.w r8, [r2, #-4]", "1s r8"},
    {0xf832'8e00, "ldrht r8, [r2]", "2 r8"},
    {0xe9d2'8902, "ldrd r8, r9, [r2, #8]", "4 r8 r9"},
    {0xe8e2'8902, "strd r8, r9, [r2], #8", "4 r8 r9"},
    {0xe892'0300, "ldmia.w r2, {r8, r9}", "4 r8 r9 @r2+0"},
    {0xe922'0300, "stmdb r2!, {r8, r9}", "4 r8 r9 @r2-8"},
    {0xe8b2'8100, "ldmia.w r2!, {r8, pc}", "4 r8 r15 @r2+0 +pc"},
    {0xe8d2'f003, "tbb [r2, r3]", "access +pc"},
    {0xe852'1f00, "ldrex r1, [r2]", "access"},
    {0xe8c2'1f40, "strexb r0, r1, [r2]", "access"},
    {0xe992'c000, "rfeia r2", "access +pc"},
    {0xed92'0b00, "vldr d0, [r2]", "access"},
    {0xf902'070f, "vst1.8 {d0}, [r2]", "access"},
    {0xf240'0105, "movw r1, #5", "none"},
    {0xf7ff'fffe, "bl .", "none"},
};

} // namespace

TEST_CASE("ARM loads and stores are told by their words") {
    for (const Case& c : arm_cases) {
        CAPTURE(c.assembly);
        CHECK(describe(decode(c.word, false)) == c.expected);
        CHECK(decode(c.word, false).wide);
    }
}

TEST_CASE("Thumb loads and stores are told by their one or two halfwords") {
    for (const Case& c : thumb_cases) {
        CAPTURE(c.assembly);
        CHECK(describe(decode(c.word, true)) == c.expected);
        CHECK(decode(c.word, true).wide == (c.word > 0xffff));
    }
}

TEST_CASE("a condition changes nothing in what an ARM instruction accesses") {
    for (const Case& c : arm_cases) {
        if ((c.word >> 28) == 0xf) continue;
        CAPTURE(c.assembly);
        for (std::uint32_t condition = 0; condition < 15; ++condition)
            CHECK(describe(decode((c.word & 0x0fff'ffff) | condition << 28, false)) == c.expected);
    }
}
