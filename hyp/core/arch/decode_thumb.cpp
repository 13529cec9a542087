// Thumb encodings (DDI 0406C: A6), those of 32 bits with the first halfword in bits 31:16.
#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

/// A6.2.4: a register and an immediate of 5 bits, times the size.
template <unsigned log2_size>
Instruction narrow(std::uint32_t word) {
    return single(is_set(word, 11), field(word, 2, 0), log2_size, false, false);
}
template <unsigned log2_size>
Address narrow_address(std::uint32_t word) {
    return at_offset(field(word, 5, 3), field(word, 10, 6) << log2_size);
}

/// Literal, or relative to SP.
Instruction narrow_word(std::uint32_t word) {
    return single(is_set(word, 11), field(word, 10, 8), 2, false, false);
}
Address narrow_word_address(std::uint32_t word) {
    return at_offset(is_set(word, 15) ? sp : pc, 4 * (word & 0xff));
}

/// Register offset; bits 11:9 select the instruction.
Instruction narrow_indexed(std::uint32_t word) {
    constexpr std::uint8_t log2_size[8] = {2, 1, 0, 0, 2, 1, 0, 1};
    const unsigned kind = field(word, 11, 9);
    return single(kind >= 3, field(word, 2, 0), log2_size[kind], kind % 4 == 3, false);
}
Address narrow_indexed_address(std::uint32_t word) {
    return at_index(field(word, 5, 3), field(word, 8, 6));
}

// PUSH and POP (A6.2.5): r0 to r7, and LR or PC.
Instruction stack(std::uint32_t word) {
    const bool pop = is_set(word, 11);
    const unsigned list = (word & 0xff) | (is_set(word, 8) ? 1u << (pop ? pc : lr) : 0);
    return block(pop, sp, list, {pop, !pop, true});
}

/// LDM writes back unless it loads its base (A8.8.57).
Instruction narrow_block(std::uint32_t word) {
    const bool load = is_set(word, 11);
    const unsigned base = field(word, 10, 8);
    return block(load, base, word & 0xff, {true, false, !load || !is_set(word, base)});
}

/// A single load or store with 12 bits of offset (A6.3.7 to A6.3.10).
constexpr bool has_12_bits(std::uint32_t word) {
    return is_set(word, 23) || rn(word) == pc;
}
constexpr bool is_indexed(std::uint32_t word) {
    return !has_12_bits(word) && !is_set(word, 11);
}

// Size in bits 22:21, L in bit 20, sign in bit 24.
Instruction wide_single(std::uint32_t word) {
    const bool load = is_set(word, 20);
    const unsigned size = field(word, 22, 21);
    const bool short_offset = !has_12_bits(word) && is_set(word, 11);
    const bool writeback = short_offset && is_set(word, 8);
    const bool unprivileged = short_offset && field(word, 10, 8) == 6;
    if (load && size != 2 && rt(word) == pc && !writeback && !unprivileged) return {}; // PLD, PLI
    Instruction i = single(load, rt(word), size, is_set(word, 24), writeback);
    const bool any_register = size == 2 && !unprivileged;
    i.unpredictable = (!any_register && bad(rt(word))) || (!load && rt(word) == pc) ||
                      (is_indexed(word) && bad(rm(word))) || moves_base(i, rn(word));
    return i;
}

/// The offset that is added before the access.
Address wide_address(std::uint32_t word) {
    const unsigned base = rn(word);
    if (has_12_bits(word))
        return at_offset(base, field(word, 11, 0), base != pc || is_set(word, 23));
    if (is_indexed(word)) return at_index(base, rm(word), field(word, 5, 4) << 2);
    return at_offset(base, is_set(word, 10) ? field(word, 7, 0) : 0, is_set(word, 9));
}

/// LDRD, STRD (A8.8.72, A8.8.73, A8.8.210).
Instruction wide_dual(std::uint32_t word) {
    const bool load = is_set(word, 20);
    Instruction i = dual(load, rt(word), rt2(word), at_offset_of(word, 4 * field(word, 7, 0)));
    i.writeback = is_set(word, 21);
    i.unpredictable = bad(rt(word)) || bad(rt2(word)) || (load && rt(word) == rt2(word)) ||
                      (!load && rn(word) == pc) || moves_base(i, rn(word));
    return i;
}

/// SP is as bad as PC. A doubleword has its second register in bits 11:8.
Instruction wide_exclusive(std::uint32_t word, unsigned log2_size, unsigned status,
                           Address address) {
    const bool load = is_set(word, 20);
    Instruction i = exclusive(load, log2_size, rt(word), rt2(word), status, address);
    i.unpredictable |= bad(rt(word)) || (!load && status == sp) ||
                       (log2_size == 3 && (bad(rt2(word)) || (load && rt(word) == rt2(word))));
    return i;
}
/// LDREX and STREX, which have an offset, and the other sizes.
Instruction exclusive_word(std::uint32_t word) {
    return wide_exclusive(word, 2, rt2(word), at_offset(rn(word), 4 * field(word, 7, 0)));
}
Instruction exclusive_sized(std::uint32_t word) {
    return wide_exclusive(word, field(word, 5, 4), rm(word), at_offset(rn(word)));
}

/// TBB, TBH: branch by the value loaded.
Instruction table_branch(std::uint32_t word) {
    return single(true, pc, field(word, 4, 4), false, false);
}

Instruction wide_block(std::uint32_t word) {
    const bool load = is_set(word, 20);
    Instruction i = block(load, rn(word), word & 0xffff, direction_of(word));
    i.unpredictable |= i.beats < 2 || is_set(word, sp) || moves_base(i, rn(word)) ||
                       (is_set(word, pc) && (!load || is_set(word, lr)));
    return i;
}

/// Only VLDR may be relative to PC (A8.8.332, A8.8.412, A8.8.413).
Instruction wide_coprocessor(std::uint32_t word) {
    Instruction i = coprocessor(word);
    i.unpredictable |= rn(word) == pc && !(i.load && is_set(word, 24) && !is_set(word, 21));
    return i;
}

// A8.8.18, by encoding.
Flow branch_t1(std::uint32_t word) {
    return branch(field(word, 11, 8), word << 1, 9, 4);
}
Flow branch_t2(std::uint32_t word) {
    return branch(condition_always, word << 1, 12, 4);
}
Flow branch_t3(std::uint32_t word) {
    const std::uint32_t upper = field(word, 26, 26) << 20 | field(word, 11, 11) << 19 |
                                field(word, 13, 13) << 18 | field(word, 21, 16) << 12;
    return branch(field(word, 25, 22), upper | field(word, 10, 0) << 1, 21, 4);
}
Flow branch_t4(std::uint32_t word) {
    const unsigned s = field(word, 26, 26);
    const std::uint32_t upper = s << 24 | (1 ^ field(word, 13, 13) ^ s) << 23 |
                                (1 ^ field(word, 11, 11) ^ s) << 22 | field(word, 25, 16) << 12;
    return branch(condition_always, upper | field(word, 10, 0) << 1, 25, 4);
}

/// CBZ, CBNZ (A8.8.29).
Flow compare_and_branch(std::uint32_t word) {
    Flow flow = branch(condition_always, field(word, 9, 9) << 6 | field(word, 7, 3) << 1, 32, 4);
    flow.compared = static_cast<std::uint8_t>(field(word, 2, 0));
    flow.if_zero = !is_set(word, 11);
    return flow;
}

} // namespace

// A6.2
constinit const Row thumb16_rows[] = {
    {0xf800, 0x4800, narrow_word, narrow_word_address},
    {0xf000, 0x5000, narrow_indexed, narrow_indexed_address},
    {0xf000, 0x6000, narrow<2>, narrow_address<2>},
    {0xf000, 0x7000, narrow<0>, narrow_address<0>},
    {0xf000, 0x8000, narrow<1>, narrow_address<1>},
    {0xf000, 0x9000, narrow_word, narrow_word_address},
    {0xf600, 0xb400, stack},
    {0xf000, 0xc000, narrow_block},
    {0xc000, 0x0000, plain},
    {0xfc00, 0x4000, plain},
    {0xff00, 0x4500, plain}, // CMP
    {0xff00, 0x4700, other}, // BX, BLX
    {0xfc87, 0x4487, other}, // ADD and MOV to PC
    {0xfc00, 0x4400, plain},
    {0xf000, 0xa000, plain}, // ADR, ADD of SP
    {0xf500, 0xb100, compare_and_branch},
    {0xff00, 0xb000, plain}, // ADD, SUB of SP
    {0xff00, 0xb200, plain}, // SXTH and others
    {0xffc0, 0xba80, other},
    {0xff00, 0xba00, plain}, // REV and others
    {0xffff, 0xbf00, plain}, // NOP
    {0xff0f, 0xbf00, other}, // WFI and others
    {0xff00, 0xbf00, plain}, // IT
    {0xfe00, 0xde00, other}, // UDF, SVC
    {0xf000, 0xd000, branch_t1},
    {0xf000, 0xe000, branch_t2},
    {0, 0, other},
};

// A6.3
constinit const Row thumb32_rows[] = {
    {0xff10'0000, 0xf900'0000, structure},
    {0xfe60'0000, 0xf860'0000, other},
    {0xff60'0000, 0xf940'0000, other},
    {0xfe1f'0000, 0xf80f'0000, other},
    {0xfe1f'0000, 0xf81f'0000, wide_single, wide_address}, // literal
    {0xfe80'0000, 0xf880'0000, wide_single, wide_address},
    {0xfe80'0fc0, 0xf800'0000, wide_single, wide_address}, // register offset
    {0xfe80'0900, 0xf800'0900, wide_single, wide_address}, // writeback
    {0xfe80'0d00, 0xf800'0c00, wide_single, wide_address},
    {0xffc0'0000, 0xe880'0000, wide_block},
    {0xffc0'0000, 0xe900'0000, wide_block},
    {0xffd0'ffff, 0xe810'c000, return_state},
    {0xffd0'ffff, 0xe990'c000, return_state},
    {0xffdf'ffe0, 0xe80d'c000, store_state},
    {0xffdf'ffe0, 0xe98d'c000, store_state},
    {0xfff0'ffe0, 0xe8d0'f000, table_branch},
    {0xfff0'0f00, 0xe850'0f00, exclusive_word},
    {0xfff0'0000, 0xe840'0000, exclusive_word},
    {0xfff0'0fef, 0xe8d0'0f4f, exclusive_sized},
    {0xfff0'00ff, 0xe8d0'007f, exclusive_sized},
    {0xfff0'0fe0, 0xe8c0'0f40, exclusive_sized},
    {0xfff0'00f0, 0xe8c0'0070, exclusive_sized},
    {0xff60'0000, 0xe840'0000, other},
    {0xfe40'0000, 0xe840'0000, wide_dual},
    {0xefa0'0000, 0xec00'0000, other}, // MCRR, MRRC, or UNDEFINED
    {0xfe00'0000, 0xec00'0000, wide_coprocessor},
    {0xfe00'0e00, 0xfc00'0a00, other}, // VFP has no LDC2
    {0xfe00'0000, 0xfc00'0000, coprocessor},
    // A6.3.1, A6.3.3, A6.3.4, A6.3.11 to A6.3.17
    {0xf800'd000, 0xf000'9000, branch_t4},
    {0xffff'ffff, 0xf3bf'8f2f, clear_exclusive},
    {0xffff'ffe0, 0xf3bf'8f40, plain}, // DSB, DMB
    {0xffff'fff0, 0xf3bf'8f60, plain}, // ISB
    {0xffff'ffff, 0xf3af'8000, plain}, // NOP
    {0xfb80'd000, 0xf380'8000, other}, // MSR, MRS, hints
    {0xf800'd000, 0xf000'8000, branch_t3},
    {0xf800'8000, 0xf000'8000, other}, // BL, BLX, HVC, SMC
    {0xfe10'0000, 0xea10'0000, plain}, // with Rd = PC it compares, and sets flags
    {0xfa10'0000, 0xf010'0000, plain},
    {0xfe00'0f00, 0xea00'0f00, other}, // writes PC
    {0xf800'0f00, 0xf000'0f00, other},
    {0xfe00'0f00, 0xfa00'0f00, other},
    {0xfe00'0000, 0xea00'0000, plain},
    {0xf800'0000, 0xf000'0000, plain},
    {0xfe00'0000, 0xfa00'0000, plain},
    {0, 0, other},
};

} // namespace mmioscope::arch
