// Each way to load and store: sizes, encodings, addressing modes, alignment, conditions; from SVC
// and User mode, and with a timer that interrupts all the time. After each form all registers, the
// flags and the device's words must be as the instruction defines, so the guest prints the same
// lines with and without a hypervisor.
//
// The map is Device memory. Unaligned accesses to it are tried because QEMU carries them out;
// hardware takes an alignment fault (ARM ARM A3.2.2). A store exclusive is tried only without a
// reservation: whether a device keeps one is the implementation's choice (A3.4.5), and a trap in
// between clears it.
#include "platform.hpp"
#include "run_form.hpp"

using namespace guest;

namespace {

constexpr unsigned word_count = 16;

/// A register or a word of the device that has changed.
struct Change {
    enum class What : u8 { nothing, reg, word, flags } what = What::nothing;
    unsigned index = 0;
    u32 value = 0;
};

struct Form {
    const char* text;
    void (*code)();
    u32 device;
    Change changes[8];
};

/// Bytes of GICD_ITARGETSR<n> of interrupts that no test uses: unlike the palette's they are
/// separate bytes. (The register exists only with two CPUs.)
constexpr u32 lanes = gic_distributor + 0x850;
constexpr unsigned lane_words = 4;

constexpr u32 base_index = 4; ///< r0 points to this word of the palette
constexpr u32 words = palette + 4 * base_index;

constexpr u32 initial_flags = 0xa000'0000; // N and C, neither Z nor V

/// A word's value before each form. Every byte of the palette has its sign bit set.
constexpr u32 seed(unsigned i) {
    return 0x8182'8384u + i * 0x0404'0404u;
}
constexpr u32 lane_seed(unsigned i) {
    return i % 2 == 0 ? 0x8382'8184u : 0x8786'8588u;
}
constexpr u32 word_address(u32 device, unsigned i) {
    return device == words ? palette + 4 * i : lanes + 4 * i;
}

constexpr u32 initial_register(u32 device, unsigned i) {
    return i == 0 ? device : i == 1 ? 8 : i * 0x1111'1111u;
}

// W(n) is the word that r0 + 4 n points to.
constexpr u32 W(int n) {
    return seed(base_index + static_cast<unsigned>(n));
}
constexpr Change r(unsigned index, u32 value) {
    return {Change::What::reg, index, value};
}
constexpr Change w(int n, u32 value) {
    return {Change::What::word, base_index + static_cast<unsigned>(n), value};
}
constexpr Change lane(unsigned n, u32 value) {
    return {Change::What::word, n, value};
}
constexpr Change flags(u32 value) {
    return {Change::What::flags, 0, value};
}
constexpr Change moved(int bytes) {
    return r(0, words + static_cast<u32>(bytes));
}

constexpr u32 R2 = 0x2222'2222, R3 = 0x3333'3333, R4 = 0x4444'4444, R5 = 0x5555'5555;
constexpr u32 low8(u32 v) {
    return v & 0xff;
}
constexpr u32 low16(u32 v) {
    return v & 0xffff;
}
constexpr u32 sign8(u32 v) {
    return v | 0xffff'ff00;
}
constexpr u32 sign16(u32 v) {
    return v | 0xffff'0000;
}
/// The result of an unaligned load at `byte` of the lanes.
constexpr u32 across(unsigned byte) {
    return lane_seed(0) >> 8 * byte | lane_seed(1) << (32 - 8 * byte);
}

// clang-format off: one form a line, where it fits
#define NAME_OF(line) form_##line
#define TEXT_OF(line) "form_" #line
// Code and table entry of one form. `before`: assembler directives before the code.
#define FORM_AT(line, device, isa, before, text, ...)                                              \
    asm(".pushsection .text.forms, \"ax\"\n." isa "\n.balign 4\n" before "\n"                      \
        ".type " TEXT_OF(line) ", %function\n.global " TEXT_OF(line) "\n" TEXT_OF(                 \
            line) ":\n" text "\nbx lr\n.popsection\n.arm");                                        \
    extern "C" void NAME_OF(line)();                                                               \
    [[gnu::section(".forms"), gnu::used]] const Form entry_##line{                                 \
        isa " " text, NAME_OF(line), device, {__VA_ARGS__}};
#define FORM_LINE(line, ...) FORM_AT(line, __VA_ARGS__)
#define FORM(...) FORM_LINE(__LINE__, __VA_ARGS__)
#define ARM(text, ...) FORM(words, "arm", "", text, __VA_ARGS__)
#define THUMB(text, ...) FORM(words, "thumb", "", text, __VA_ARGS__)
#define LANES(text, ...) FORM(lanes, "arm", "", text, __VA_ARGS__)

asm(".arch armv7ve\n.fpu neon-vfpv4");

// ARM, HSR describes them (ISV=1).
ARM("ldr r2, [r0]", r(2, W(0)))
ARM("ldrb r2, [r0]", r(2, low8(W(0))))
ARM("ldrh r2, [r0]", r(2, low16(W(0))))
ARM("ldrsb r2, [r0]", r(2, sign8(W(0))))
ARM("ldrsh r2, [r0]", r(2, sign16(W(0))))
ARM("ldrb r2, [r0, #3]", r(2, low8(W(0))))
ARM("ldrsh r2, [r0, #2]", r(2, sign16(W(0))))
ARM("str r2, [r0]", w(0, R2))
ARM("strb r2, [r0]", w(0, low8(R2)))
ARM("strh r2, [r0]", w(0, low16(R2)))
ARM("strb r2, [r0, #3]", w(0, low8(R2)))
ARM("ldr r9, [r0, #4]", r(9, W(1)))
ARM("ldr r2, [r0, #-4]", r(2, W(-1)))
ARM("ldr r2, [r0, r1]", r(2, W(2)))
ARM("ldr r2, [r0, -r1]", r(2, W(-2)))
ARM("ldr r2, [r0, r1, lsl #1]", r(2, W(4)))
ARM("ldrsb r2, [r0, r1]", r(2, sign8(W(2))))
ARM("str r2, [r0, r1, lsl #1]", w(4, R2))
ARM("strh r2, [r0, -r1]", w(-2, low16(R2)))
ARM("ldr r0, [r0]", r(0, W(0)))
ARM("ldr r0, [r0, r1]", r(0, W(2)))
ARM("str r0, [r0]", w(0, words))
ARM("mov r9, lr; ldr lr, [r0]; mov r2, lr; mov lr, r9; movw r9, #0x9999; movt r9, #0x9999",
    r(2, W(0)))
ARM("str lr, [r0]; ldr r2, [r0]; sub r2, r2, lr; str r3, [r0]", r(2, 0), w(0, R3))
ARM("str pc, [r0]; ldr r2, [r0]; sub r2, pc, r2; str r3, [r0]", r(2, 8), w(0, R3))
ARM("ldr r2, [r0]; ldr r3, [r0, #4]; str r2, [r0, #8]; strb r3, [r0, #12]", r(2, W(0)), r(3, W(1)),
    w(2, W(0)), w(3, low8(W(1))))

// ARM, HSR does not describe them: writeback, unprivileged, several registers, exclusives.
ARM("ldr r2, [r0], #4", r(2, W(0)), moved(4))
ARM("ldr r2, [r0, #4]!", r(2, W(1)), moved(4))
ARM("ldr r2, [r0], -r1", r(2, W(0)), moved(-8))
ARM("ldr r2, [r0, r1, lsl #1]!", r(2, W(4)), moved(16))
ARM("ldrb r2, [r0], #1", r(2, low8(W(0))), moved(1))
ARM("ldrb r2, [r0, r1]!", r(2, low8(W(2))), moved(8))
ARM("ldrh r2, [r0], #2", r(2, low16(W(0))), moved(2))
ARM("ldrsb r2, [r0, #4]!", r(2, sign8(W(1))), moved(4))
ARM("ldrsh r2, [r0], r1", r(2, sign16(W(0))), moved(8))
ARM("str r2, [r0], #4", w(0, R2), moved(4))
ARM("str r2, [r0, #-4]!", w(-1, R2), moved(-4))
ARM("strb r2, [r0], r1", w(0, low8(R2)), moved(8))
ARM("strh r2, [r0, #4]!", w(1, low16(R2)), moved(4))
ARM("ldrt r2, [r0]", r(2, W(0)))
ARM("ldrbt r2, [r0]", r(2, low8(W(0))))
ARM("ldrht r2, [r0], #4", r(2, low16(W(0))), moved(4))
ARM("strt r2, [r0], #4", w(0, R2), moved(4))
ARM("ldrd r2, r3, [r0]", r(2, W(0)), r(3, W(1)))
ARM("ldrd r2, r3, [r0], #8", r(2, W(0)), r(3, W(1)), moved(8))
ARM("strd r2, r3, [r0]", w(0, R2), w(1, R3))
ARM("strd r2, r3, [r0, r1]!", w(2, R2), w(3, R3), moved(8))
ARM("ldm r0, {r2-r5}", r(2, W(0)), r(3, W(1)), r(4, W(2)), r(5, W(3)))
ARM("ldmia r0!, {r2, r4}", r(2, W(0)), r(4, W(1)), moved(8))
ARM("ldmdb r0!, {r2, r3}", r(2, W(-2)), r(3, W(-1)), moved(-8))
ARM("ldmib r0, {r0, r9}", r(0, W(1)), r(9, W(2)))
ARM("stm r0, {r2-r5}", w(0, R2), w(1, R3), w(2, R4), w(3, R5))
ARM("stmdb r0!, {r2, r3}", w(-2, R2), w(-1, R3), moved(-8))
ARM("ldrexb r2, [r0]; clrex", r(2, low8(W(0))))
ARM("ldrex r2, [r0]; clrex; strex r4, r3, [r0]", r(2, W(0)), r(4, 1))
ARM("vldr s0, [r0]; vmov r2, s0", r(2, W(0)))
ARM("vmov s0, r2; vstr s0, [r0, #4]", w(1, R2))
ARM("vldr d0, [r0]; vmov r2, r3, d0", r(2, W(0)), r(3, W(1)))
ARM("vldmia r0!, {s0-s2}; vmov r2, s0; vmov r3, s1; vmov r4, s2", r(2, W(0)), r(3, W(1)),
    r(4, W(2)), moved(12))
ARM("vmov d0, r2, r3; vstr d0, [r0]", w(0, R2), w(1, R3))
ARM("vmov s0, r2; vmov s1, r3; vmov s2, r4; vstmia r0!, {s0-s2}", w(0, R2), w(1, R3), w(2, R4),
    moved(12))
ARM("vld1.32 {d0[0]}, [r0]; vmov r2, s0", r(2, W(0)))
ARM("vmov s0, r2; vst1.32 {d0[0]}, [r0]!", w(0, R2), moved(4))

// Unaligned; only on QEMU, whose versions make different accesses of the loads.
LANES("ldr r2, [r0, #2]", r(2, across(2)))
LANES("ldr r2, [r0, #1]", r(2, across(1)))
LANES("ldrh r2, [r0, #3]", r(2, low16(across(3))))
ARM("str r2, [r0, #1]", w(0, low8(R2)), w(1, low8(R2)))
ARM("strh r2, [r0, #3]", w(0, low8(R2)), w(1, low8(R2)))
LANES("add r0, r0, #2; ldr r2, [r0], #4", r(2, across(2)), r(0, lanes + 6))

// A failed condition makes no access; the flags are N and C.
ARM("ldreq r2, [r0]")
ARM("streq r2, [r0]")
ARM("ldmeq r0!, {r2, r3}")
ARM("ldrne r2, [r0]", r(2, W(0)))
ARM("strmi r2, [r0], #4", w(0, R2), moved(4))
ARM("cmp r0, r0; ldrne r2, [r0]; ldreq r3, [r0]", r(3, W(0)), flags(0x6000'0000))

// Thumb, 16 bits; at both halves of a word.
THUMB("ldr r2, [r0]", r(2, W(0)))
THUMB("nop; ldr r2, [r0]", r(2, W(0)))
THUMB("ldr r2, [r0, #4]", r(2, W(1)))
THUMB("ldr r2, [r0, r1]", r(2, W(2)))
THUMB("ldrb r2, [r0]", r(2, low8(W(0))))
THUMB("ldrb r2, [r0, r1]", r(2, low8(W(2))))
THUMB("ldrh r2, [r0]", r(2, low16(W(0))))
THUMB("ldrsb r2, [r0, r1]", r(2, sign8(W(2))))
THUMB("ldrsh r2, [r0, r1]", r(2, sign16(W(2))))
THUMB("str r2, [r0]", w(0, R2))
THUMB("nop; strb r2, [r0]", w(0, low8(R2)))
THUMB("strh r2, [r0, r1]", w(2, low16(R2)))
THUMB("ldmia r0!, {r2, r3}", r(2, W(0)), r(3, W(1)), moved(8))
THUMB("nop; stmia r0!, {r2, r3}", w(0, R2), w(1, R3), moved(8))

// Thumb, 32 bits.
THUMB("ldr.w r9, [r0, #4]", r(9, W(1)))
THUMB("nop; ldr.w r9, [r0, #4]", r(9, W(1)))
THUMB("ldr.w r2, [r0, #-4]", r(2, W(-1)))
THUMB("ldr.w r2, [r0, r1, lsl #1]", r(2, W(4)))
THUMB("ldr.w r2, [r0], #4", r(2, W(0)), moved(4))
THUMB("nop; ldr.w r2, [r0, #4]!", r(2, W(1)), moved(4))
THUMB("ldrb.w r9, [r0]", r(9, low8(W(0))))
THUMB("ldrsb.w r9, [r0, #4]", r(9, sign8(W(1))))
THUMB("ldrsh.w r2, [r0], #2", r(2, sign16(W(0))), moved(2))
THUMB("ldrt r2, [r0, #4]", r(2, W(1)))
THUMB("str.w r9, [r0, #4]", w(1, 0x9999'9999))
THUMB("str.w r2, [r0], #-4", w(0, R2), moved(-4))
THUMB("strb.w r9, [r0, #-4]", w(-1, 0x99))
THUMB("strh.w r2, [r0, #4]!", w(1, low16(R2)), moved(4))
THUMB("ldrd r2, r9, [r0]", r(2, W(0)), r(9, W(1)))
THUMB("nop; strd r9, r2, [r0], #8", w(0, 0x9999'9999), w(1, R2), moved(8))
THUMB("ldmdb r0!, {r2, r9}", r(2, W(-2)), r(9, W(-1)), moved(-8))
THUMB("stmdb r0, {r2, r9}", w(-2, R2), w(-1, 0x9999'9999))
THUMB("ldrex r2, [r0, #4]; clrex; strex r4, r3, [r0]", r(2, W(1)), r(4, 1))
THUMB("vldr s0, [r0, #4]; vmov r2, s0", r(2, W(1)))
FORM(lanes, "thumb", "", "ldr.w r2, [r0, #2]", r(2, across(2)))
// The instruction crosses two pages.
FORM(words, "thumb", ".balign 4096; .space 4094", "ldr.w r2, [r0], #4", r(2, W(0)), moved(4))
FORM(words, "thumb", ".balign 4096; .space 4092",
     "ldr r2, [r0]; ldr r3, [r0, #4]; ldr r4, [r0, #8]", r(2, W(0)), r(3, W(1)), r(4, W(2)))

// In an IT block: first, in the middle, last, not executed.
THUMB("it ne; ldrne r2, [r0]", r(2, W(0)))
THUMB("it eq; ldreq r2, [r0]")
THUMB("ite ne; ldrne r2, [r0]; ldreq r3, [r0]", r(2, W(0)))
THUMB("ite eq; ldreq r2, [r0]; ldrne r3, [r0]", r(3, W(0)))
THUMB("itt ne; movne r3, #1; ldrne r2, [r0]; movs r4, #0", r(2, W(0)), r(3, 1), r(4, 0),
      flags(0x6000'0000))
THUMB("ittte ne; ldrne r2, [r0]; movne r3, #1; ldrne.w r4, [r0, #4]; moveq r5, #2", r(2, W(0)),
      r(3, 1), r(4, W(1)))
THUMB("itete ne; strne r2, [r0]; streq r3, [r0]; strne.w r4, [r0, #4]!; streq r5, [r0]", w(0, R2),
      w(1, R4), moved(4))
THUMB("itt ne; ldmiane r0!, {r2, r3}; ldrdne r4, r5, [r0]", r(2, W(0)), r(3, W(1)), r(4, W(2)),
      r(5, W(3)), moved(8))

// A device whose bytes are separate registers.
LANES("ldrb r2, [r0, #1]", r(2, 0x81))
LANES("ldrsb r2, [r0, #1]", r(2, 0xffff'ff81))
LANES("ldrh r2, [r0, #2]", r(2, 0x8382))
LANES("ldrsh r2, [r0]", r(2, 0xffff'8184))
LANES("strb r2, [r0, #1]", lane(0, 0x8382'2284))
LANES("strh r3, [r0, #2]", lane(0, 0x3333'8184))
LANES("str r3, [r0, #4]", lane(1, 0x3333'3333))
LANES("strb r2, [r0, #2]!", lane(0, 0x8322'8184), r(0, lanes + 2))
LANES("ldr r2, [r0, #2]", r(2, 0x8588'8382))
LANES("str r3, [r0, #3]", lane(0, 0x3382'8184), lane(1, 0x8733'3333))

// clang-format on
} // namespace

extern "C" {
extern const Form forms_begin[], forms_end[];
}

namespace {

enum class Mode { svc, user };

/// Compares registers and words with what they must be.
void check(const Form& form, const Registers& now) {
    Registers right{};
    u32 word[word_count];
    const bool of_lanes = form.device == lanes;
    const unsigned count = of_lanes ? lane_words : word_count;
    for (unsigned i = 0; i < register_count; ++i) right.r[i] = initial_register(form.device, i);
    for (unsigned i = 0; i < count; ++i) word[i] = of_lanes ? lane_seed(i) : seed(i);
    right.psr = initial_flags;
    for (const Change& change : form.changes) {
        if (change.what == Change::What::reg) right.r[change.index] = change.value;
        if (change.what == Change::What::word) word[change.index] = change.value;
        if (change.what == Change::What::flags) right.psr = change.value;
    }
    bool same = true;
    for (unsigned i = 0; i < register_count; ++i) {
        if (now.r[i] == right.r[i]) continue;
        same = false;
        print("  r", i, " is ", Hex{now.r[i]}, ", must be ", Hex{right.r[i]}, "\n");
    }
    constexpr u32 all_flags = 0xf000'0000;
    if ((now.psr & all_flags) != right.psr) {
        same = false;
        print("  flags are ", Hex{now.psr}, ", must be ", Hex{right.psr}, "\n");
    }
    for (unsigned i = 0; i < count; ++i) {
        const u32 value = read(word_address(form.device, i));
        if (value == word[i]) continue;
        same = false;
        print("  word ", i, " is ", Hex{value}, ", must be ", Hex{word[i]}, "\n");
    }
    if (!same) {
        print(form.text, "\n");
        failed("registers or words are wrong");
    }
}

void try_form(const Form& form, Mode mode) {
    const unsigned count = form.device == lanes ? lane_words : word_count;
    for (unsigned i = 0; i < count; ++i)
        write(word_address(form.device, i), form.device == lanes ? lane_seed(i) : seed(i));
    Registers registers{};
    for (unsigned i = 0; i < register_count; ++i) registers.r[i] = initial_register(form.device, i);
    registers.psr = initial_flags;
    run_form(form.code, &registers, mode == Mode::user);
    check(form, registers);
}

/// Repeats until `enough` interrupts have arrived.
void try_all(const char* what, Mode mode, u32 enough) {
    const u32 before = interrupts();
    do {
        for (const Form* form = forms_begin; form != forms_end; ++form) try_form(*form, mode);
    } while (interrupts() - before < enough);
    print("forms: all ", what, "\n");
}

} // namespace

void guest_main() {
    for (const Form* form = forms_begin; form != forms_end; ++form)
        print("form: ", form->text, "\n");
    try_all("in SVC mode", Mode::svc, 0);
    try_all("in User mode", Mode::user, 0);

    // Often enough that an interrupt is pending during most steps, but rarely enough to make
    // progress.
    constexpr u32 ticks = 1000;
    constexpr u32 enough = 100;
    enable_gic();
    set_tick(ticks);
    unmask_interrupts();
    try_all("in SVC mode with interrupts", Mode::svc, enough);
    try_all("in User mode with interrupts", Mode::user, enough);
    set_tick(0);
    mask_interrupts();
    done();
}

void secondary_main() {}
