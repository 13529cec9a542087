// Words as assembled by GNU as 2.40 from the text beside them.
#include "arch/instruction.hpp"
#include "catch_2_or_3.hpp"

#include <string>

using namespace mmioscope::arch;

namespace {

std::string place_text(const Instruction& i, unsigned n) {
    if (i.bank == Bank::vector)
        return " d" + std::to_string(i.place[n] / 8) + "." + std::to_string(i.place[n] % 8);
    if (i.place[n] == place_spsr) return " spsr";
    return (i.bank == Bank::user ? " u" : " r") + std::to_string(i.place[n]);
}

/// " @r2-4", " @r2+r3+0", " @r2+r3:8" (shift 8), " @r13<19>-4" (SRS: SP of a mode); just " @r2" for
/// the base register itself.
std::string address_text(const Address& a) {
    std::string text = " @r" + std::to_string(a.base);
    if (a.base_mode != 0) text += "<" + std::to_string(a.base_mode) + ">";
    if (a.index != Address::no_index)
        text += (a.subtract_index ? "-r" : "+r") + std::to_string(a.index);
    if (a.shift != 0) text += ":" + std::to_string(a.shift);
    if (a.offset != 0) text += (a.offset < 0 ? "" : "+") + std::to_string(a.offset);
    return text;
}

/// "R4 r1", "R1s r6" (direction, size, sign, registers), "W4 r0 r3 @r2-4" (first address, if there
/// are several accesses), "none"; "X" for exclusives, "!" for writeback, "+pc" if it loads PC.
std::string describe(const Instruction& i) {
    if (!i.accesses_memory()) return "none";
    std::string text = i.exclusive ? "X" : "";
    text += std::string(i.load ? "R" : "") + (i.store ? "W" : "") +
            std::to_string(1u << i.log2_size) + (i.sign_extend ? "s" : "");
    for (unsigned n = 0; n < i.beats; ++n) text += place_text(i, n);
    if (i.exclusive && i.store) text += " ok:r" + std::to_string(i.status);
    if (i.beats > 1) text += address_text(i.address);
    return text + (i.writeback ? " !" : "") + (i.loads_pc ? " +pc" : "");
}

struct Case {
    std::uint32_t word;
    const char* assembly;
    const char* expected;
};

constexpr Case arm_cases[] = {
    {0xe592'1004, "ldr r1, [r2, #4]", "R4 r1"},
    {0xe492'1004, "ldr r1, [r2], #4", "R4 r1 !"},
    {0xe5b2'1004, "ldr r1, [r2, #4]!", "R4 r1 !"},
    {0xe792'1103, "ldr r1, [r2, r3, lsl #2]", "R4 r1"},
    {0xe582'f000, "str pc, [r2]", "W4 r15"},
    {0xe592'f000, "ldr pc, [r2]", "R4 r15 +pc"},
    {0xe49f'1004, "ldr r1, [pc], #4", "R4 r1 ! +pc"},
    {0xe5d2'3001, "ldrb r3, [r2, #1]", "R1 r3"},
    {0xe5c2'3000, "strb r3, [r2]", "W1 r3"},
    {0xe4b2'1000, "ldrt r1, [r2]", "R4 r1 !"},
    {0xe1d2'40b0, "ldrh r4, [r2]", "R2 r4"},
    {0xe182'40b5, "strh r4, [r2, r5]", "W2 r4"},
    {0xe1d2'60d0, "ldrsb r6, [r2]", "R1s r6"},
    {0xe1d2'60f2, "ldrsh r6, [r2, #2]", "R2s r6"},
    {0xe1c2'40d0, "ldrd r4, r5, [r2]", "R4 r4 r5 @r2"},
    {0xe1e2'40f8, "strd r4, r5, [r2, #8]!", "W4 r4 r5 @r2+8 !"},
    {0xe0c2'40d8, "ldrd r4, r5, [r2], #8", "R4 r4 r5 @r2 !"},
    {0xe102'40d3, "ldrd r4, r5, [r2, -r3]", "R4 r4 r5 @r2-r3"},
    {0xe1a2'40f3, "strd r4, r5, [r2, r3]!", "W4 r4 r5 @r2+r3 !"},
    {0xe892'0109, "ldm r2, {r0, r3, r8}", "R4 r0 r3 r8 @r2"},
    {0xe922'4002, "stmdb r2!, {r1, lr}", "W4 r1 r14 @r2-8 !"},
    {0xe992'0070, "ldmib r2, {r4, r5, r6}", "R4 r4 r5 r6 @r2+4"},
    {0xe802'0030, "stmda r2, {r4, r5}", "W4 r4 r5 @r2-4"},
    {0xe892'8001, "ldm r2, {r0, pc}", "R4 r0 r15 @r2 +pc"},
    {0xe8bd'8010, "pop {r4, pc}", "R4 r4 r15 @r13 ! +pc"},
    {0xe8d2'2001, "ldm r2, {r0, sp}^", "R4 u0 u13 @r2"},
    {0xe942'6000, "stmdb r2, {sp, lr}^", "W4 u13 u14 @r2-8"},
    {0xf892'0a00, "rfeia r2", "R4 r15 spsr @r2 +pc"},
    {0xf96d'0513, "srsdb sp!, #19", "W4 r14 spsr @r13<19>-8 !"},
    {0xe192'1f9f, "ldrex r1, [r2]", "XR4 r1"},
    {0xe1b2'4f9f, "ldrexd r4, r5, [r2]", "XR4 r4 r5 @r2"},
    {0xe182'0f91, "strex r0, r1, [r2]", "XW4 r1 ok:r0"},
    {0xe1e2'0f91, "strexh r0, r1, [r2]", "XW2 r1 ok:r0"},
    {0xe1a2'0f94, "strexd r0, r4, r5, [r2]", "XW4 r4 r5 ok:r0 @r2"},
    {0xe102'0091, "swp r0, r1, [r2]", "RW4 r0 r1 @r2"},
    {0xe142'0091, "swpb r0, r1, [r2]", "RW1 r0 r1 @r2"},
    {0xed92'0a00, "vldr s0, [r2]", "R4 d0.0"},
    {0xed52'0a01, "vldr s1, [r2, #-4]", "R4 d0.4"},
    {0xed82'1b02, "vstr d1, [r2, #8]", "W4 d1.0 d1.4 @r2+8"},
    {0xedd2'1b00, "vldr d17, [r2]", "R4 d17.0 d17.4 @r2"},
    {0xec82'0b04, "vstmia r2, {d0-d1}", "W4 d0.0 d0.4 d1.0 d1.4 @r2"},
    {0xed32'0a03, "vldmdb r2!, {s0-s2}", "R4 d0.0 d0.4 d1.0 @r2-12 !"},
    {0xecb2'0b03, "fldmiax r2!, {d0}", "R4 d0.0 d0.4 @r2 !"},
    {0xf422'078f, "vld1.32 {d0}, [r2]", "R4 d0.0 d0.4 @r2"},
    {0xf422'07cf, "vld1.64 {d0}, [r2]", "R4 d0.0 d0.4 @r2"},
    {0xf402'074d, "vst1.16 {d0}, [r2]!", "W2 d0.0 d0.2 d0.4 d0.6 @r2 !"},
    {0xf422'088f, "vld2.32 {d0-d1}, [r2]", "R4 d0.0 d1.0 d0.4 d1.4 @r2"},
    {0xf422'098f, "vld2.32 {d0, d2}, [r2]", "R4 d0.0 d2.0 d0.4 d2.4 @r2"},
    {0xf462'048f, "vld3.32 {d16-d18}, [r2]", "R4 d16.0 d17.0 d18.0 d16.4 d17.4 d18.4 @r2"},
    {0xf4a2'006f, "vld1.8 {d0[3]}, [r2]", "R1 d0.3"},
    {0xf482'056f, "vst2.16 {d0[1], d2[1]}, [r2]", "W2 d0.2 d2.2 @r2"},
    {0xf4a2'0bcf, "vld4.32 {d0[1], d2[1], d4[1], d6[1]}, [r2]", "R4 d0.4 d2.4 d4.4 d6.4 @r2"},
    {0xf4a2'0caf, "vld1.32 {d0[], d1[]}, [r2]", "R4 d0.0"},
    {0xf4a2'0d6f, "vld2.16 {d0[], d2[]}, [r2]", "R2 d0.0 d2.0 @r2"},
    {0xed92'5e00, "ldc p14, c5, [r2]", "R4"},
    {0xe082'1003, "add r1, r2, r3", "none"},
    {0xe001'0392, "mul r1, r2, r3", "none"},
    {0xe3a0'1001, "mov r1, #1", "none"},
    {0xeaff'fffe, "b .", "none"},
    {0xec51'0b10, "vmov r0, r1, d0", "none"},
    {0xf5d2'f000, "pld [r2]", "none"},
};

constexpr Case thumb_cases[] = {
    {0x6851, "ldr r1, [r2, #4]", "R4 r1"},
    {0x58d1, "ldr r1, [r2, r3]", "R4 r1"},
    {0x4902, "ldr r1, [pc, #8]", "R4 r1"},
    {0x9902, "ldr r1, [sp, #8]", "R4 r1"},
    {0x70d1, "strb r1, [r2, #3]", "W1 r1"},
    {0x8851, "ldrh r1, [r2, #2]", "R2 r1"},
    {0x52d1, "strh r1, [r2, r3]", "W2 r1"},
    {0x56d1, "ldrsb r1, [r2, r3]", "R1s r1"},
    {0x5ed1, "ldrsh r1, [r2, r3]", "R2s r1"},
    {0xb503, "push {r0, r1, lr}", "W4 r0 r1 r14 @r13-12 !"},
    {0xbc03, "pop {r0, r1}", "R4 r0 r1 @r13 !"},
    {0xbd01, "pop {r0, pc}", "R4 r0 r15 @r13 ! +pc"},
    {0xca03, "ldmia r2!, {r0, r1}", "R4 r0 r1 @r2 !"},
    {0xca05, "ldmia r2, {r0, r2}", "R4 r0 r2 @r2"},
    {0xc203, "stmia r2!, {r0, r1}", "W4 r0 r1 @r2 !"},
    {0x18d1, "adds r1, r2, r3", "none"},
    {0xbf00, "nop", "none"},
    {0x4770, "bx lr", "none"},
    {0xf8d2'8008, "ldr.w r8, [r2, #8]", "R4 r8"},
    {0xf8d2'f000, "ldr.w pc, [r2]", "R4 r15 +pc"},
    {0xf882'8000, "strb.w r8, [r2]", "W1 r8"},
    {0xf932'8013, "ldrsh.w r8, [r2, r3, lsl #1]", "R2s r8"},
    {0xf912'8c04, "ldrsb.w r8, [r2, #-4]", "R1s r8"},
    {0xf832'8e00, "ldrht r8, [r2]", "R2 r8"},
    {0xf852'8b04, "ldr.w r8, [r2], #4", "R4 r8 !"},
    {0xf892'f000, "pld [r2]", "none"},
    {0xf842'8803, "undefined", "none"},
    {0xe9d2'8902, "ldrd r8, r9, [r2, #8]", "R4 r8 r9 @r2+8"},
    {0xe8e2'8902, "strd r8, r9, [r2], #8", "W4 r8 r9 @r2 !"},
    {0xe95f'8902, "ldrd r8, r9, [pc, #-8]", "R4 r8 r9 @r15-8"},
    {0xe892'0300, "ldmia.w r2, {r8, r9}", "R4 r8 r9 @r2"},
    {0xe922'0300, "stmdb r2!, {r8, r9}", "W4 r8 r9 @r2-8 !"},
    {0xe8b2'8100, "ldmia.w r2!, {r8, pc}", "R4 r8 r15 @r2 ! +pc"},
    {0xe8d2'f003, "tbb [r2, r3]", "R1 r15 +pc"},
    {0xe8d2'f013, "tbh [r2, r3, lsl #1]", "R2 r15 +pc"},
    {0xe852'1f01, "ldrex r1, [r2, #4]", "XR4 r1"},
    {0xe842'1001, "strex r0, r1, [r2, #4]", "XW4 r1 ok:r0"},
    {0xe8c2'1f40, "strexb r0, r1, [r2]", "XW1 r1 ok:r0"},
    {0xe8d2'137f, "ldrexd r1, r3, [r2]", "XR4 r1 r3 @r2"},
    {0xe992'c000, "rfeia r2", "R4 r15 spsr @r2 +pc"},
    {0xe80d'c013, "srsdb sp, #19", "W4 r14 spsr @r13<19>-8"},
    {0xed92'0b00, "vldr d0, [r2]", "R4 d0.0 d0.4 @r2"},
    {0xf902'070f, "vst1.8 {d0}, [r2]", "W1 d0.0 d0.1 d0.2 d0.3 d0.4 d0.5 d0.6 d0.7 @r2"},
    {0xf240'0105, "movw r1, #5", "none"},
    {0xf7ff'fffe, "bl .", "none"},
};

} // namespace

TEST_CASE("ARM loads and stores are decoded from their words") {
    for (const Case& c : arm_cases) {
        CAPTURE(c.assembly);
        CHECK(describe(decode(c.word, false)) == c.expected);
        CHECK(decode(c.word, false).wide);
    }
}

TEST_CASE("Thumb loads and stores are decoded from their one or two halfwords") {
    for (const Case& c : thumb_cases) {
        CAPTURE(c.assembly);
        CHECK(describe(decode(c.word, true)) == c.expected);
        CHECK(decode(c.word, true).wide == (c.word > 0xffff));
    }
}

TEST_CASE("a condition does not change what an ARM instruction accesses") {
    for (const Case& c : arm_cases) {
        if ((c.word >> 28) == 0xf) continue;
        CAPTURE(c.assembly);
        for (std::uint32_t condition = 0; condition < 15; ++condition)
            CHECK(describe(decode((c.word & 0x0fff'ffff) | condition << 28, false)) == c.expected);
    }
}

TEST_CASE("the address of a single load or store has base, shifted index and offset") {
    struct Row {
        std::uint32_t word;
        const char* assembly;
        bool thumb;
        const char* expected;
    };
    const Row rows[] = {
        {0xe592'1004, "ldr r1, [r2, #4]", false, " @r2+4"},
        {0xe512'1004, "ldr r1, [r2, #-4]", false, " @r2-4"},
        {0xe492'1004, "ldr r1, [r2], #4", false, " @r2"},
        {0xe5b2'1004, "ldr r1, [r2, #4]!", false, " @r2+4"},
        {0xe792'1003, "ldr r1, [r2, r3]", false, " @r2+r3"},
        {0xe712'1103, "ldr r1, [r2, -r3, lsl #2]", false, " @r2-r3:8"},
        {0xe792'1023, "ldr r1, [r2, r3, lsr #32]", false, " @r2+r3:1"},
        {0xe792'1fc3, "ldr r1, [r2, r3, asr #31]", false, " @r2+r3:126"},
        {0xe792'1263, "ldr r1, [r2, r3, ror #4]", false, " @r2+r3:19"},
        {0xe792'1063, "ldr r1, [r2, r3, rrx]", false, " @r2+r3:3"},
        {0xe6b2'1003, "ldrt r1, [r2], r3", false, " @r2"},
        {0xe51f'1008, "ldr r1, [pc, #-8]", false, " @r15-8"},
        {0xe1d2'4fbf, "ldrh r4, [r2, #255]", false, " @r2+255"},
        {0xe112'40f5, "ldrsh r4, [r2, -r5]", false, " @r2-r5"},
        {0xe0c2'40b2, "strh r4, [r2], #2", false, " @r2"},
        {0xe52d'1004, "push {r1}", false, " @r13-4"},
        {0x4902, "ldr r1, [pc, #8]", true, " @r15+8"},
        {0x511a, "str r2, [r3, r4]", true, " @r3+r4"},
        {0x5f1a, "ldrsh r2, [r3, r4]", true, " @r3+r4"},
        {0x6fd1, "ldr r1, [r2, #124]", true, " @r2+124"},
        {0x87d1, "strh r1, [r2, #62]", true, " @r2+62"},
        {0x9d02, "ldr r5, [sp, #8]", true, " @r13+8"},
        {0xf8d2'1fff, "ldr.w r1, [r2, #4095]", true, " @r2+4095"},
        {0xf852'1cff, "ldr.w r1, [r2, #-255]", true, " @r2-255"},
        {0xf852'1033, "ldr.w r1, [r2, r3, lsl #3]", true, " @r2+r3:12"},
        {0xf852'1907, "ldr.w r1, [r2], #-7", true, " @r2"},
        {0xf852'1d07, "ldr.w r1, [r2, #-7]!", true, " @r2-7"},
        {0xf832'1e09, "ldrht r1, [r2, #9]", true, " @r2+9"},
        {0xf85f'100c, "ldr.w r1, [pc, #-12]", true, " @r15-12"},
        {0xe8b2'0002, "ldm r2!, {r1}", false, " @r2"}, // as decode() has set it
        {0xe912'0002, "ldmdb r2, {r1}", false, " @r2-4"},
        {0xb402, "push {r1}", true, " @r13-4"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.assembly);
        Instruction i = decode(row.word, row.thumb);
        set_address(i, row.word, row.thumb);
        CHECK(address_text(i.address) == row.expected);
    }
}

TEST_CASE("an index is shifted as the instruction says") {
    constexpr std::uint32_t value = 0x8000'0013;
    const auto by = [](unsigned amount, unsigned type) { return amount << 2 | type; };
    CHECK(shifted(value, by(0, 0), true) == value);
    CHECK(shifted(value, by(4, 0), true) == 0x130);
    CHECK(shifted(value, by(4, 1), true) == 0x0800'0001);
    CHECK(shifted(value, by(0, 1), true) == 0);
    CHECK(shifted(value, by(4, 2), true) == 0xf800'0001);
    CHECK(shifted(value, by(0, 2), true) == 0xffff'ffff);
    CHECK(shifted(value, by(4, 3), true) == 0x3800'0001);
    CHECK(shifted(value, by(0, 3), true) == 0xc000'0009);
    CHECK(shifted(value, by(0, 3), false) == 0x4000'0009);
}
