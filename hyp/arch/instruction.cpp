#include "arch/instruction.hpp"

#include "base/field.hpp"

namespace mmioscope::arch {

namespace {

constexpr unsigned pc = 15;

constexpr unsigned field(std::uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & ((1u << (high - low + 1)) - 1);
}
constexpr bool is_set(std::uint32_t word, unsigned n) {
    return ((word >> n) & 1) != 0;
}

/// One register, one access.
Instruction single(bool wide, bool load, unsigned reg, unsigned log2_size, bool sign) {
    return {.wide = wide,
            .load_store = true,
            .loads_pc = load && reg == pc,
            .log2_size = log2_size,
            .sign_extend = sign,
            .beats = 1,
            .reg = {static_cast<std::uint8_t>(reg)}};
}

/// LDRD, STRD: two words.
Instruction dual(bool load, unsigned first, unsigned second) {
    return {.wide = true,
            .load_store = true,
            .loads_pc = load && (first == pc || second == pc),
            .beats = 2,
            .reg = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second)}};
}

/// Accesses whose values go elsewhere than to core registers, or on conditions.
Instruction other_access(bool wide, bool loads_pc) {
    return {.wide = wide, .load_store = true, .loads_pc = loads_pc};
}

/// LDM, STM (A8.8.57 to A8.8.60, A8.8.199 to A8.8.202): the lowest register at the lowest address.
Instruction block(bool wide, bool load, unsigned base, unsigned list, bool increment, bool before) {
    Instruction i{.wide = wide,
                  .load_store = true,
                  .loads_pc = load && is_set(list, pc),
                  .has_base = true,
                  .base = base};
    for (unsigned n = 0; n < max_beats; ++n)
        if (is_set(list, n)) i.reg[i.beats++] = static_cast<std::uint8_t>(n);
    const auto bytes = static_cast<std::int32_t>(4 * i.beats);
    i.first = increment ? (before ? 4 : 0) : (before ? -bytes : 4 - bytes);
    return i;
}

// A5.2.8: halfword, signed and dual loads and stores: bits 6:5 and L tell which.
Instruction arm_extra(std::uint32_t word) {
    const bool load = is_set(word, 20);
    const unsigned reg = field(word, 15, 12);
    switch (field(word, 6, 5)) {
    case 1: return single(true, load, reg, 1, false);
    case 2: return load ? single(true, true, reg, 0, true) : dual(true, reg, reg + 1);   // LDRD
    default: return load ? single(true, true, reg, 1, true) : dual(false, reg, reg + 1); // STRD
    }
}

// A5.5; unconditional: RFE, SRS. With the user bank (bit 22) the values are not of this mode's.
Instruction arm_block(std::uint32_t word) {
    const bool load = is_set(word, 20);
    if ((word >> 28) == 0xf) return other_access(true, load);
    if (is_set(word, 22)) return other_access(true, load && is_set(word, pc));
    return block(true, load, field(word, 19, 16), word & 0xffff, is_set(word, 23),
                 is_set(word, 24));
}

// A5.2.10: SWP and SWPB (bits 23, 21 and 20 clear), LDREX and STREX with the size in bits 22:21.
Instruction arm_synchronization(std::uint32_t word) {
    const bool swap = !is_set(word, 23);
    Instruction i = other_access(true, (swap || is_set(word, 20)) && field(word, 15, 12) == pc);
    constexpr unsigned exclusive_size[4] = {2, 3, 0, 1};
    i.log2_size = swap ? (is_set(word, 22) ? 0 : 2) : exclusive_size[field(word, 22, 21)];
    return i;
}

Instruction decode_arm(std::uint32_t word) {
    const Instruction other{.wide = true};
    const bool unconditional = (word >> 28) == 0xf;
    const bool load = is_set(word, 20);
    switch (field(word, 27, 25)) {
    case 0: // A5.2: extra loads and stores, SWP and exclusives among data processing
        if (unconditional || !is_set(word, 7) || !is_set(word, 4)) return other;
        if (field(word, 6, 5) != 0) return arm_extra(word);
        return is_set(word, 24) ? arm_synchronization(word) : other;
    case 2: // A5.3, and NEON element or structure loads and stores (A7.7)
        if (unconditional) return is_set(word, 24) || load ? other : other_access(true, false);
        return single(true, load, field(word, 15, 12), is_set(word, 22) ? 0 : 2, false);
    case 3:
        if (unconditional || is_set(word, 4)) return other; // media instructions
        return single(true, load, field(word, 15, 12), is_set(word, 22) ? 0 : 2, false);
    case 4: return arm_block(word);
    case 6: return other_access(true, false); // A5.6: VLDM, VSTM, VLDR, VSTR, LDC, STC
    default: return other;
    }
}

// A6.2.4: register offset; bits 11:9 tell which.
Instruction thumb_register_offset(std::uint32_t word) {
    constexpr struct {
        bool load;
        unsigned log2_size;
        bool sign;
    } kinds[8] = {{false, 2, false}, {false, 1, false}, {false, 0, false}, {true, 0, true},
                  {true, 2, false},  {true, 1, false},  {true, 0, false},  {true, 1, true}};
    const auto& kind = kinds[field(word, 11, 9)];
    return single(false, kind.load, field(word, 2, 0), kind.log2_size, kind.sign);
}

// PUSH and POP (A6.2.5): r0 to r7 and one of LR and PC.
Instruction thumb_stack(std::uint32_t word) {
    if (field(word, 10, 9) != 2) return {};
    const bool pop = is_set(word, 11);
    const unsigned list = (word & 0xff) | (is_set(word, 8) ? 1u << (pop ? pc : 14) : 0);
    return block(false, pop, 13, list, pop, !pop);
}

Instruction decode_thumb16(std::uint32_t word) {
    const bool load = is_set(word, 11);
    switch (field(word, 15, 12)) {
    case 0x4: return load ? single(false, true, field(word, 10, 8), 2, false) : Instruction{};
    case 0x5: return thumb_register_offset(word);
    case 0x6: return single(false, load, field(word, 2, 0), 2, false);
    case 0x7: return single(false, load, field(word, 2, 0), 0, false);
    case 0x8: return single(false, load, field(word, 2, 0), 1, false);
    case 0x9: return single(false, load, field(word, 10, 8), 2, false);
    case 0xb: return thumb_stack(word);
    case 0xc: return block(false, load, field(word, 10, 8), word & 0xff, true, false);
    default: return {};
    }
}

// A6.3.7 to A6.3.10: size in bits 22:21, L in bit 20, sign in bit 24.
Instruction thumb_single(std::uint32_t word) {
    const bool load = is_set(word, 20);
    if (is_set(word, 24) && !load) return other_access(true, false); // NEON (A7.7)
    if (field(word, 22, 21) == 3) return {.wide = true};
    return single(true, load, field(word, 15, 12), field(word, 22, 21), is_set(word, 24));
}

// A6.3.6: dual with P or W; without either, exclusive and table branch.
Instruction thumb_dual(std::uint32_t word) {
    if (is_set(word, 24) || is_set(word, 21))
        return dual(is_set(word, 20), field(word, 15, 12), field(word, 11, 8));
    const bool table_branch = (word & 0xfff0'ffe0) == 0xe8d0'f000;
    return other_access(true, table_branch);
}

// A6.3.5: op 01 increments after, 10 decrements before; 00 and 11 are RFE and SRS.
Instruction thumb_block(std::uint32_t word) {
    const bool load = is_set(word, 20);
    const unsigned op = field(word, 24, 23);
    if (op == 0 || op == 3) return other_access(true, load);
    return block(true, load, field(word, 19, 16), word & 0xffff, op == 1, op == 2);
}

Instruction decode_thumb32(std::uint32_t word) {
    switch (field(word, 31, 25)) {
    case 0x74: return is_set(word, 22) ? thumb_dual(word) : thumb_block(word); // 1110 100
    case 0x7c: return thumb_single(word);                                      // 1111 100
    case 0x76:
    case 0x7e: return other_access(true, false); // 111x 110: coprocessor and VFP
    default: return {.wide = true};
    }
}

Instruction decode_form(std::uint32_t word, bool thumb) {
    if (!thumb) return decode_arm(word);
    return is_wide_thumb(static_cast<std::uint16_t>(word >> 16)) ? decode_thumb32(word)
                                                                 : decode_thumb16(word);
}

/// Writeback to PC: UNPREDICTABLE in every form, a branch on some CPUs. Rn is in bits 19:16 of all
/// 32-bit encodings, W in bit 21; ARM also writes back without P (bit 24). A single Thumb load with
/// Rn = PC is a literal load, which has no writeback.
bool writes_pc_back(std::uint32_t word, bool thumb) {
    if (field(word, 19, 16) != pc) return false;
    if (thumb) return field(word, 31, 25) != 0x7c && is_set(word, 21);
    return !is_set(word, 24) || is_set(word, 21);
}

} // namespace

Instruction decode(std::uint32_t word, bool thumb) {
    Instruction i = decode_form(word, thumb);
    if (i.load_store && i.wide && writes_pc_back(word, thumb)) i.loads_pc = true;
    return i;
}

} // namespace mmioscope::arch
