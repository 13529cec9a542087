// What Hyp believes of instructions that the guest executes between a load-exclusive and its
// store-exclusive.
#include "arch/flow.hpp"
#include "catch_2_or_3.hpp"

using namespace mmioscope::arch;
using Kind = Flow::Kind;

namespace {

Kind arm(std::uint32_t word) {
    return flow_of(word, false).kind;
}
Kind thumb(std::uint32_t word) {
    return flow_of(word, true).kind;
}

} // namespace

TEST_CASE("what calculates, or moves data between registers and memory, is plain") {
    const auto word = GENERATE(as<std::uint32_t>{},
                               0xe281'1001,  // add r1, r1, #1
                               0xe1b0'2081,  // lsls r2, r1, #1
                               0xe331'0000,  // teq r1, #0
                               0xe302'1234,  // movw r1, #0x2234
                               0xe340'1001,  // movt r1, #1
                               0x0341'1001,  // movteq
                               0xe001'0392,  // mul r1, r2, r3
                               0xe083'1392,  // umull r1, r3, r2, r3
                               0xe6ff'1071,  // uxth r1, r1
                               0xe7e0'1051,  // ubfx r1, r1, #0, #1
                               0xe7ff'1051,  // ubfx r1, r1, #0, #32
                               0xe16f'1f11,  // clz r1, r1
                               0xe320'f000,  // nop
                               0xf57f'f05b,  // dmb ish
                               0xf57f'f04f,  // dsb
                               0xf57f'f06f,  // isb
                               0xe592'1004,  // ldr r1, [r2, #4]
                               0xe52d'1004,  // push {r1}
                               0xe8bd'00f0); // pop {r4-r7}
    CAPTURE(word);
    CHECK(arm(word) == Kind::plain);
}

TEST_CASE("what may lead elsewhere, change or read CPSR, or touch the monitor, is not plain") {
    const auto word = GENERATE(as<std::uint32_t>{},
                               0xe1a0'f00e,  // mov pc, lr
                               0xe08f'f001,  // add pc, pc, r1
                               0xe3a0'f000,  // mov pc, #0
                               0xe12f'ff1e,  // bx lr
                               0xe12f'ff3e,  // blx lr
                               0xeb00'0000,  // bl
                               0xfa00'0000,  // blx
                               0xe8bd'8000,  // pop {pc}
                               0xe59f'f000,  // ldr pc, [pc]
                               0xf8bd'0a00,  // rfeia sp!
                               0xe10f'1000,  // mrs r1, cpsr
                               0xe121'f001,  // msr cpsr_c, r1
                               0xe321'f0d3,  // msr cpsr_c, #0xd3
                               0xf10c'0080,  // cpsid i
                               0xf102'0013,  // cps #19
                               0xf101'0000,  // setend le
                               0xe320'f003,  // wfi
                               0xe320'f002,  // wfe
                               0xe320'f004,  // sev
                               0xef00'0000,  // svc
                               0xe140'0070,  // hvc
                               0xe160'0070,  // smc
                               0xe120'0070,  // bkpt
                               0xe7f0'00f0,  // udf
                               0xe190'1f9f,  // ldrex
                               0xe1b0'0f9f,  // ldrexd
                               0xe102'1093,  // swp
                               0xee1d'1f70,  // mrc TPIDRURO
                               0xee0d'1f70,  // mcr
                               0xeef1'fa10,  // vmrs apsr, fpscr
                               0xed90'5e00); // ldc p14
    CAPTURE(word);
    CHECK(arm(word) == Kind::other);
}

TEST_CASE("in Thumb state, too, only what goes straight on is plain") {
    const auto plain = GENERATE(as<std::uint32_t>{},
                                0x3101,       // adds r1, #1
                                0x0049,       // lsls r1, r1, #1
                                0x4291,       // cmp r1, r2
                                0x4549,       // cmp r1, r9
                                0x4689,       // mov r9, r1
                                0xb082,       // sub sp, #8
                                0xb289,       // uxth r1, r1
                                0xba09,       // rev r1, r1
                                0xbf18,       // it ne
                                0xbf00,       // nop
                                0xa001,       // adr
                                0x6811,       // ldr r1, [r2]
                                0xbc30,       // pop {r4, r5}
                                0xf101'0101,  // add.w r1, r1, #1
                                0xf1b1'0f00,  // cmp.w r1, #0
                                0xea42'0101,  // orr.w r1, r2, r1
                                0xebb1'0f02,  // cmp.w r1, r2
                                0xf241'2134,  // movw
                                0xf3c1'0107,  // ubfx
                                0xfa1f'f181,  // uxth.w r1, r1
                                0xfab1'f181,  // clz
                                0xfb01'f102,  // mul
                                0xfba1'1203,  // umull
                                0xf3bf'8f5b,  // dmb ish
                                0xf3af'8000); // nop.w
    CAPTURE(plain);
    CHECK(thumb(plain) == Kind::plain);
}

TEST_CASE("in Thumb state what may lead elsewhere is not plain") {
    const auto word = GENERATE(as<std::uint32_t>{},
                               0x4770,       // bx lr
                               0x4788,       // blx r1
                               0x468f,       // mov pc, r1
                               0x448f,       // add pc, r1
                               0xbd00,       // pop {pc}
                               0xdf00,       // svc
                               0xde00,       // udf
                               0xbe00,       // bkpt
                               0xb672,       // cpsid i
                               0xb650,       // setend
                               0xbf30,       // wfi
                               0xba80,       // undefined, or HLT
                               0xf000'f800,  // bl
                               0xf000'e800,  // blx
                               0xf7f0'8000,  // smc
                               0xf7e0'8000,  // hvc
                               0xf3ef'8100,  // mrs r1, cpsr
                               0xf381'8100,  // msr cpsr_c, r1
                               0xf3af'8003,  // wfi.w
                               0xf3af'8600,  // cpsid
                               0xf3de'8f00,  // subs pc, lr
                               0xe8d1'f002,  // tbb
                               0xe8bd'8010,  // pop.w {r4, pc}
                               0xe850'1f00,  // ldrex
                               0xf8df'f000,  // ldr pc, [pc]
                               0xee1d'1f70); // mrc
    CAPTURE(word);
    CHECK(thumb(word) == Kind::other);
}

TEST_CASE("store-exclusives and CLREX are known in both instruction sets") {
    CHECK(arm(0xe180'4f92) == Kind::store_exclusive);
    CHECK(flow_of(0x0180'4f92, false).condition == 0); // strexeq
    CHECK(arm(0xe1c0'4f92) == Kind::store_exclusive);  // strexb
    CHECK(arm(0xe1a0'4f92) == Kind::store_exclusive);  // strexd
    CHECK(thumb(0xe840'2400) == Kind::store_exclusive);
    CHECK(thumb(0xe8c0'2f44) == Kind::store_exclusive); // strexb
    CHECK(arm(0xf57f'f01f) == Kind::clear_exclusive);
    CHECK(thumb(0xf3bf'8f2f) == Kind::clear_exclusive);
}

TEST_CASE("a branch says where it leads, and when") {
    struct Branch {
        std::uint32_t word;
        bool thumb;
        unsigned condition;
        std::int32_t offset;
    };
    const Branch b = GENERATE(Branch{0xea00'0000, false, 14, 8}, Branch{0x1aff'fffd, false, 1, -4},
                              Branch{0xd0fe, true, 0, 0}, Branch{0xd101, true, 1, 6},
                              Branch{0xe7fe, true, 14, 0}, Branch{0xe001, true, 14, 6},
                              Branch{0xf040'8001, true, 1, 6},   // bne.w
                              Branch{0xf47f'affe, true, 1, 0},   // bne.w to itself
                              Branch{0xf000'b801, true, 14, 6},  // b.w
                              Branch{0xf7ff'bffe, true, 14, 0}); // b.w to itself
    CAPTURE(b.word);
    const Flow flow = flow_of(b.word, b.thumb);
    CHECK(flow.kind == Kind::branch);
    CHECK(flow.condition == b.condition);
    CHECK(flow.offset == b.offset);
    CHECK(flow.compared == Flow::no_register);
}

TEST_CASE("CBZ and CBNZ name their register") {
    const Flow cbz = flow_of(0xb10b, true); // cbz r3, 2 halfwords behind the next one
    CHECK(cbz.kind == Kind::branch);
    CHECK(cbz.compared == 3);
    CHECK(cbz.if_zero);
    CHECK(cbz.offset == 4 + 2);
    const Flow cbnz = flow_of(0xbb03, true); // i is set
    CHECK(cbnz.compared == 3);
    CHECK(!cbnz.if_zero);
    CHECK(cbnz.offset == 4 + 64);
}
