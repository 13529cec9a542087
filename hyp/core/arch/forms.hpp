// Shared by the tables of encodings: their rows, the kinds of loads and stores, and the encodings
// that are the same in both instruction sets (coprocessor, VFP and NEON).
#pragma once

#include "arch/flow.hpp"
#include "arch/instruction.hpp"

namespace mmioscope::arch {

constexpr unsigned field(std::uint32_t word, unsigned high, unsigned low) {
    return (word >> low) & ((1u << (high - low + 1)) - 1);
}
constexpr bool is_set(std::uint32_t word, unsigned n) {
    return ((word >> n) & 1) != 0;
}

// Of what makes no access and is no branch.
constexpr Flow clear_exclusive(std::uint32_t) {
    return {Flow::Kind::clear_exclusive};
}
constexpr Flow plain(std::uint32_t) {
    return {Flow::Kind::plain};
}
constexpr Flow other(std::uint32_t) {
    return {Flow::Kind::other};
}

/// What words are that have `value` in the bits of `mask`, and fit no row before.
struct Row {
    using Accesses = Instruction(std::uint32_t word); ///< there may be none, too
    using Addressing = Address(std::uint32_t word);
    using Going = Flow(std::uint32_t word);

    std::uint32_t mask, value;
    Accesses* accesses{[](std::uint32_t) { return Instruction{}; }};
    Addressing* address{}; ///< of a single load or store
    Going* flow{other};    ///< if it makes no access

    constexpr Row(std::uint32_t m, std::uint32_t v, Going* f) : mask(m), value(v), flow(f) {}
    constexpr Row(std::uint32_t m, std::uint32_t v, Accesses* i, Addressing* a = nullptr)
        : mask(m), value(v), accesses(i), address(a) {}
};
/// The last row of each fits all words.
extern const Row arm_rows[], arm_unconditional_rows[], thumb16_rows[], thumb32_rows[];

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

/// A load or a store about which nothing else is known.
inline Instruction access(bool load) {
    return {.load = load, .store = !load};
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
/// P, U and W in bits 24, 23 and 21.
constexpr Direction direction_of(std::uint32_t word) {
    return {is_set(word, 23), is_set(word, 24), is_set(word, 21)};
}
/// LDM, STM: the lowest register at the lowest address (A8.8.57 to A8.8.61, A8.8.199 to A8.8.202).
Instruction block(bool load, unsigned base, unsigned list, Direction direction);
/// LDREX, STREX and those of other sizes; `second` and `status` if the form has them.
Instruction exclusive(bool load, unsigned log2_size, unsigned reg, unsigned second, unsigned status,
                      Address address);
/// RFE, and SRS of the mode in bits 4:0 (B9.3.13, B9.3.15): two words around the base register.
Instruction return_state(std::uint32_t word);
Instruction store_state(std::uint32_t word);

/// To `offset`, two's complement of `bits` bits, from PC, which is `ahead` bytes ahead.
constexpr Flow branch(unsigned condition, std::uint32_t offset, unsigned bits, int ahead) {
    return {.kind = Flow::Kind::branch,
            .condition = static_cast<std::uint8_t>(condition),
            .offset = (static_cast<std::int32_t>(offset << (32 - bits)) >> (32 - bits)) + ahead};
}

/// VFP and other coprocessor loads and stores (A5.6, A7.6).
Instruction coprocessor(std::uint32_t word);
/// NEON element or structure loads and stores (A7.7): bits 23, 21 and below are the same in both.
Instruction structure(std::uint32_t word);

} // namespace mmioscope::arch
