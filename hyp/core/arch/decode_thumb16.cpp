// 16-bit Thumb encodings (DDI 0406C: A6.2).
#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

Instruction narrow(Instruction i) {
    i.wide = false;
    return i;
}
Instruction narrow_single(bool load, unsigned reg, unsigned log2_size, bool sign) {
    return narrow(single(load, reg, log2_size, sign, false));
}

// A6.2.4: register offset; bits 11:9 select the instruction.
Instruction register_offset(std::uint32_t word) {
    constexpr struct {
        bool load;
        unsigned log2_size;
        bool sign;
    } kinds[8] = {{false, 2, false}, {false, 1, false}, {false, 0, false}, {true, 0, true},
                  {true, 2, false},  {true, 1, false},  {true, 0, false},  {true, 1, true}};
    const auto& kind = kinds[field(word, 11, 9)];
    return narrow_single(kind.load, field(word, 2, 0), kind.log2_size, kind.sign);
}

// PUSH and POP (A6.2.5): r0 to r7, and LR or PC.
Instruction stack(std::uint32_t word) {
    if (field(word, 10, 9) != 2) return {};
    const bool pop = is_set(word, 11);
    const unsigned list = (word & 0xff) | (is_set(word, 8) ? 1u << (pop ? pc : 14) : 0);
    return narrow(block(pop, sp, list, {pop, !pop, true}));
}

/// LDM writes back unless it loads its base (A8.8.57).
Instruction multiple(std::uint32_t word) {
    const bool load = is_set(word, 11);
    const unsigned base = field(word, 10, 8);
    return narrow(block(load, base, word & 0xff, {true, false, !load || !is_set(word, base)}));
}

/// Of 5 bits, times the size.
Address immediate_address(std::uint32_t word, unsigned log2_size) {
    return at_offset(field(word, 5, 3), field(word, 10, 6) << log2_size);
}

} // namespace

void set_thumb16_address(Instruction& i, std::uint32_t word) {
    switch (field(word, 15, 12)) {
    case 0x4: i.address = at_offset(pc, 4 * (word & 0xff)); return; // literal
    case 0x5: i.address = at_index(field(word, 5, 3), field(word, 8, 6)); return;
    case 0x6:
    case 0x7:
    case 0x8: i.address = immediate_address(word, i.log2_size); return;
    case 0x9: i.address = at_offset(sp, 4 * (word & 0xff)); return;
    default: return;
    }
}

Instruction decode_thumb16(std::uint32_t word) {
    const bool load = is_set(word, 11);
    switch (field(word, 15, 12)) {
    case 0x4: return load ? narrow_single(true, field(word, 10, 8), 2, false) : Instruction{};
    case 0x5: return register_offset(word);
    case 0x6: return narrow_single(load, field(word, 2, 0), 2, false);
    case 0x7: return narrow_single(load, field(word, 2, 0), 0, false);
    case 0x8: return narrow_single(load, field(word, 2, 0), 1, false);
    case 0x9: return narrow_single(load, field(word, 10, 8), 2, false);
    case 0xb: return stack(word);
    case 0xc: return multiple(word);
    default: return {};
    }
}

} // namespace mmioscope::arch
