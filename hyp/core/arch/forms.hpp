// Shared by the ARM and the Thumb decoder: the kinds of loads and stores, and the encodings that
// are the same in both (coprocessor, VFP and NEON).
#pragma once

#include "arch/instruction.hpp"

namespace mmioscope::arch {

inline constexpr unsigned sp = 13;
inline constexpr unsigned pc = 15;

constexpr unsigned field(std::uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & ((1u << (high - low + 1)) - 1);
}
constexpr bool is_set(std::uint32_t word, unsigned n) {
    return ((word >> n) & 1) != 0;
}
constexpr bool matches(std::uint32_t word, std::uint32_t mask, std::uint32_t value) {
    return (word & mask) == value;
}

// Where most 32-bit encodings of either set have their registers.
constexpr unsigned rn(std::uint32_t word) {
    return field(word, 19, 16);
}
constexpr unsigned rt(std::uint32_t word) {
    return field(word, 15, 12);
}
constexpr unsigned rt2(std::uint32_t word) {
    return field(word, 11, 8);
}
constexpr unsigned rm(std::uint32_t word) {
    return field(word, 3, 0);
}

/// SP or PC, which most Thumb instructions must not use (BadReg(), A6.1.1).
constexpr bool bad(unsigned reg) {
    return reg == sp || reg == pc;
}

/// R[base] plus or minus an immediate.
constexpr Address at_offset(unsigned base, unsigned immediate = 0, bool add = true) {
    return {.base = static_cast<std::uint8_t>(base),
            .offset = static_cast<std::int32_t>(add ? immediate : 0 - immediate)};
}
/// The same, by bits 24 (whether it is added before the access) and 23 (whether it is added).
constexpr Address at_offset_of(std::uint32_t word, unsigned immediate) {
    return at_offset(rn(word), is_set(word, 24) ? immediate : 0, is_set(word, 23));
}
/// R[base] plus or minus R[index], shifted as Address::shift says.
constexpr Address at_index(unsigned base, unsigned index, unsigned shift = 0, bool add = true) {
    return {.base = static_cast<std::uint8_t>(base),
            .index = static_cast<std::uint8_t>(index),
            .subtract_index = !add,
            .shift = static_cast<std::uint8_t>(shift & 0x7f)};
}

/// An instruction of 32 bits that makes no access.
inline Instruction other_instruction() {
    return {.wide = true};
}
/// A load or a store about which nothing else is known.
inline Instruction access(bool load) {
    return {.wide = true, .load = load, .store = !load};
}
/// One core register, one access.
inline Instruction single(bool load, unsigned reg, unsigned log2_size, bool sign, bool writeback) {
    Instruction i = access(load);
    i.log2_size = static_cast<std::uint8_t>(log2_size);
    i.sign_extend = sign;
    i.writeback = writeback;
    i.loads_pc = load && reg == pc;
    i.beats = 1;
    i.place[0] = static_cast<std::uint8_t>(reg);
    return i;
}
/// Two words and two core registers (LDRD, LDREXD).
Instruction dual(bool load, unsigned first, unsigned second, Address address);
/// Whether `i` moves its base register and writes it back, too: UNPREDICTABLE (A8.8.63, A8.8.204).
bool moves_base(const Instruction& i, unsigned base);
/// How LDM and STM go through memory.
struct Direction {
    bool increment;
    bool before;
    bool writeback;
};
/// LDM, STM: the lowest register at the lowest address (A8.8.57 to A8.8.61, A8.8.199 to A8.8.202).
Instruction block(bool load, unsigned base, unsigned list, Direction direction);
/// LDREX and STREX; `second` and `status` if the form has them.
Instruction exclusive_load(unsigned log2_size, unsigned reg, unsigned second, Address address);
Instruction exclusive_store(unsigned log2_size, unsigned reg, unsigned second, unsigned status,
                            Address address);
/// RFE, and SRS of `mode` (B9.3.13, B9.3.15): two words around the base register.
Instruction return_state(unsigned base, bool increment, bool before, bool writeback);
Instruction store_state(unsigned mode, bool increment, bool before, bool writeback);

/// Bits 27:25 are 110: VFP and other coprocessor loads and stores (A5.6, A7.6). `unconditional`:
/// instructions whose name ends in 2; VFP has none.
Instruction decode_coprocessor(std::uint32_t word, bool unconditional);
/// NEON element or structure loads and stores (A7.7): bits 23, 21 and below are the same in both.
Instruction decode_structure(std::uint32_t word);

/// set_address() of each set.
void set_arm_address(Instruction& i, std::uint32_t word);
void set_thumb16_address(Instruction& i, std::uint32_t word);
void set_thumb32_address(Instruction& i, std::uint32_t word);

Instruction decode_arm(std::uint32_t word);
Instruction decode_thumb16(std::uint32_t word);
Instruction decode_thumb32(std::uint32_t word);

} // namespace mmioscope::arch
