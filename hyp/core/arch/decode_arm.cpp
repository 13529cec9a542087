// ARM encodings (DDI 0406C: A5).
#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

/// P clear or W set (A5.3, A5.2.8). P clear and W set is LDRT and the like, which also write back.
constexpr bool writes_back(std::uint32_t word) {
    return !is_set(word, 24) || is_set(word, 21);
}

/// A word or byte: the immediate or shifted register offset, if it is added before the access.
Address single_address(std::uint32_t word) {
    if (!is_set(word, 24) || !is_set(word, 25)) return at_offset_of(word, field(word, 11, 0));
    return at_index(rn(word), rm(word), field(word, 11, 5), is_set(word, 23));
}

// A5.3
Instruction arm_single(std::uint32_t word) {
    const bool byte = is_set(word, 22);
    Instruction i = single(is_set(word, 20), rt(word), byte ? 0 : 2, false, writes_back(word));
    i.unpredictable = (byte && rt(word) == pc) || (is_set(word, 25) && rm(word) == pc) ||
                      (i.writeback && rn(word) == rt(word));
    return i;
}

/// Halfwords, signed bytes, LDRD, STRD: likewise.
Address extra_address(std::uint32_t word) {
    if (is_set(word, 24) && !is_set(word, 22))
        return at_index(rn(word), rm(word), 0, is_set(word, 23));
    return at_offset_of(word, field(word, 11, 8) << 4 | rm(word));
}

/// The register offset is PC, or bits 11:8 beside it are not zero, as they should be.
bool bad_extra_offset(std::uint32_t word) {
    return !is_set(word, 22) && (rm(word) == pc || field(word, 11, 8) != 0);
}

// A5.2.8, A5.2.9: halfword and signed, by bits 6:5.
Instruction arm_extra(std::uint32_t word) {
    const unsigned kind = field(word, 6, 5);
    Instruction i =
        single(is_set(word, 20), rt(word), kind == 2 ? 0 : 1, kind != 1, writes_back(word));
    i.unpredictable = rt(word) == pc || bad_extra_offset(word) || moves_base(i, rn(word));
    return i;
}

// LDRD and STRD, by bit 5: A8.8.72 to A8.8.74, A8.8.210, A8.8.211.
Instruction arm_dual(std::uint32_t word) {
    const unsigned first = rt(word);
    const bool load = !is_set(word, 5);
    Instruction i = dual(load, first, first + 1, extra_address(word));
    i.writeback = writes_back(word);
    const bool loads_offset = load && !is_set(word, 22) && rm(word) / 2 == first / 2;
    const bool unprivileged = !is_set(word, 24) && is_set(word, 21);
    i.unpredictable = first % 2 != 0 || first == lr || unprivileged || loads_offset ||
                      bad_extra_offset(word) || moves_base(i, rn(word));
    return i;
}

/// SWP, SWPB (A8.8.229): the load into Rt, then the store of Rt2.
Instruction arm_swap(std::uint32_t word) {
    Instruction i = single(true, rt(word), is_set(word, 22) ? 0 : 2, false, false);
    i.store = true;
    i.place[i.beats++] = static_cast<std::uint8_t>(rm(word));
    i.address = at_offset(rn(word));
    i.unpredictable =
        rm(word) == pc || rn(word) == pc || rn(word) == rt(word) || rn(word) == rm(word);
    return i;
}

// A5.2.10: the size is in bits 22:21. A doubleword is in an even register and the next one
// (A8.8.77, A8.8.214).
Instruction arm_exclusive(std::uint32_t word) {
    constexpr unsigned sizes[4] = {2, 3, 0, 1};
    const unsigned size = sizes[field(word, 22, 21)];
    const bool load = is_set(word, 20);
    const unsigned first = load ? rt(word) : rm(word);
    Instruction i = exclusive(load, size, first, first + 1, rt(word), at_offset(rn(word)));
    i.unpredictable |= size == 3 && (first % 2 != 0 || first == lr);
    return i;
}

// A5.5; bit 22: the registers of User mode, or, with PC, an exception return.
Instruction arm_block(std::uint32_t word) {
    const Direction direction = direction_of(word);
    Instruction i = block(is_set(word, 20), rn(word), word & 0xffff, direction);
    if (!is_set(word, 22)) return i;
    i.bank = Bank::user;
    i.unpredictable |= direction.writeback;
    return i;
}

Flow arm_branch(std::uint32_t word) {
    return branch(word >> 28, word << 2, 26, 8);
}

} // namespace

constinit const Row arm_rows[] = {
    {0x0e00'0000, 0x0400'0000, arm_single, single_address},
    {0x0e00'0010, 0x0600'0000, arm_single, single_address},
    {0x0e00'0000, 0x0800'0000, arm_block},
    {0x0e10'00d0, 0x0000'00d0, arm_dual},
    {0x0e00'00f0, 0x0000'00b0, arm_extra, extra_address},
    {0x0e00'00d0, 0x0000'00d0, arm_extra, extra_address},
    {0x0fb0'0ff0, 0x0100'0090, arm_swap},
    {0x0f90'0fff, 0x0190'0f9f, arm_exclusive},
    {0x0f90'0ff0, 0x0180'0f90, arm_exclusive},
    {0x0fa0'0000, 0x0c00'0000, other}, // MCRR, MRRC, or UNDEFINED
    {0x0e00'0000, 0x0c00'0000, coprocessor},
    {0x0f00'0000, 0x0a00'0000, arm_branch},
    // A5.2: data processing, multiplications, MOVW, MOVT, CLZ, NOP.
    {0x0fff'ffff, 0x0320'f000, plain},
    {0x0c00'f000, 0x0000'f000, other}, // writes PC
    {0x0f0f'00f0, 0x000f'0090, other},
    {0x0f00'00f0, 0x0000'0090, plain},
    {0x0e00'0090, 0x0000'0090, other},
    {0x0fff'0ff0, 0x016f'0f10, plain},
    {0x0fb0'0000, 0x0300'0000, plain},
    {0x0d90'0000, 0x0100'0000, other},
    {0x0d80'f000, 0x0100'0000, plain}, // TST, TEQ, CMP and CMN have no Rd
    {0x0d80'0000, 0x0100'0000, other},
    {0x0c00'0000, 0x0000'0000, plain},
    // A5.4: parallel additions, extension, reversal, saturation, bit fields.
    {0x0e00'f010, 0x0600'f010, other},
    {0x0ff0'00f0, 0x07f0'00f0, other},
    {0x0f80'0010, 0x0700'0010, other},
    {0x0fe0'0010, 0x0780'0010, other},
    {0x0e00'0010, 0x0600'0010, plain},
    {0, 0, other},
};

constinit const Row arm_unconditional_rows[] = {
    {0xffff'ffff, 0xf57f'f01f, clear_exclusive}, {0xffff'ffe0, 0xf57f'f040, plain}, // DSB, DMB
    {0xffff'fff0, 0xf57f'f060, plain},                                              // ISB
    {0xff10'0000, 0xf400'0000, structure},       {0xfe50'ffff, 0xf810'0a00, return_state},
    {0xfe5f'ffe0, 0xf84d'0500, store_state},     {0xffa0'0000, 0xfc00'0000, other},
    {0xfe00'0e00, 0xfc00'0a00, other}, // VFP has no LDC2
    {0xfe00'0000, 0xfc00'0000, coprocessor},     {0, 0, other},
};

} // namespace mmioscope::arch
