// NEON element or structure loads and stores (DDI 0406C: A7.7, A8.8.320 to A8.8.331, A8.8.404 to
// A8.8.411). Elements are accessed one by one in address order; an element of 64 bits is two words
// (A3.5.3).
#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

/// Registers an instruction names: `count` structures' worth, `step` apart.
struct Registers {
    unsigned first;     ///< number of the first D register
    unsigned structure; ///< elements in a structure: 1 to 4
    unsigned step;      ///< distance between the registers of one structure
};

constexpr unsigned first_register(std::uint32_t word) {
    return field(word, 22, 22) << 4 | rt(word);
}
constexpr bool exists(unsigned last_register) {
    return last_register < 32;
}

Instruction start(std::uint32_t word, unsigned log2_size) {
    Instruction i = access(is_set(word, 21));
    i.bank = Bank::vector;
    i.log2_size = static_cast<std::uint8_t>(log2_size < 3 ? log2_size : 2);
    i.pairs = log2_size == 3;
    i.writeback = rm(word) != pc;
    i.address = at_offset(rn(word));
    i.unpredictable = rn(word) == pc;
    return i;
}

void add(Instruction& i, unsigned reg, unsigned element) {
    i.place[i.beats++] = static_cast<std::uint8_t>(8 * reg + (element << i.log2_size));
}

/// Whole registers: `runs` times all elements of a register, each with the other elements of its
/// structure.
Instruction multiple(std::uint32_t word, Registers r, unsigned runs) {
    Instruction i = start(word, field(word, 7, 6));
    i.consecutive = r.structure == 1;
    if (!exists(r.first + runs - 1 + (r.structure - 1) * r.step)) return i; // UNPREDICTABLE
    for (unsigned run = 0; run < runs; ++run)
        for (unsigned element = 0; element < 8u >> i.log2_size; ++element)
            for (unsigned n = 0; n < r.structure; ++n) add(i, r.first + run + n * r.step, element);
    return i;
}

// A7.7: bits 11:8 give structure, step and runs; some alignments are UNDEFINED.
Instruction decode_multiple(std::uint32_t word) {
    const unsigned first = first_register(word);
    const unsigned type = field(word, 11, 8);
    const unsigned align = field(word, 5, 4);
    const bool wide_elements = field(word, 7, 6) == 3;
    switch (type) {
    case 0x7:
    case 0x6:
        if (align >= 2) return other_instruction();
        return multiple(word, {first, 1, 1}, type == 0x7 ? 1 : 3);
    case 0xa: return align == 3 ? other_instruction() : multiple(word, {first, 1, 1}, 2);
    case 0x2: return multiple(word, {first, 1, 1}, 4);
    default: break;
    }
    if (wide_elements) return other_instruction();
    switch (type) {
    case 0x8:
    case 0x9: return align == 3 ? other_instruction() : multiple(word, {first, 2, type - 7}, 1);
    case 0x3: return multiple(word, {first, 2, 2}, 2);
    case 0x4:
    case 0x5: return align >= 2 ? other_instruction() : multiple(word, {first, 3, type - 3}, 1);
    case 0x0:
    case 0x1: return multiple(word, {first, 4, type + 1}, 1);
    default: return other_instruction();
    }
}

/// One structure: each of its elements goes to lane `element` of its register.
Instruction lane(std::uint32_t word, unsigned log2_size, Registers r, unsigned element) {
    Instruction i = start(word, log2_size);
    if (!exists(r.first + (r.structure - 1) * r.step)) return i; // UNPREDICTABLE
    for (unsigned n = 0; n < r.structure; ++n) add(i, r.first + n * r.step, element);
    return i;
}

/// index_align, bits 7:4, has lane, step and alignment (A8.8.321 and others). Returns what is
/// UNDEFINED.
bool lane_undefined(unsigned structure, unsigned log2_size, unsigned index_align) {
    const unsigned low = index_align & 3;
    switch (structure) {
    case 1:
        if (log2_size < 2) return is_set(index_align, log2_size);
        return is_set(index_align, 2) || (low != 0 && low != 3);
    case 2: return log2_size == 2 && is_set(index_align, 1);
    case 3: return log2_size == 2 ? low != 0 : is_set(index_align, 0);
    default: return log2_size == 2 && low == 3;
    }
}

Instruction decode_lane(std::uint32_t word, unsigned log2_size) {
    const unsigned structure = field(word, 9, 8) + 1;
    const unsigned index_align = field(word, 7, 4);
    if (lane_undefined(structure, log2_size, index_align)) return other_instruction();
    const bool apart = structure > 1 && log2_size > 0 && is_set(index_align, log2_size);
    return lane(word, log2_size, {first_register(word), structure, apart ? 2u : 1u},
                index_align >> (log2_size + 1));
}

/// One structure to all lanes. T (bit 5) doubles VLD1's registers, and the step of the others.
Instruction decode_all_lanes(std::uint32_t word) {
    const unsigned structure = field(word, 9, 8) + 1;
    const unsigned size = field(word, 7, 6);
    const bool aligned = is_set(word, 4);
    const bool twice = is_set(word, 5);
    if (!is_set(word, 21)) return other_instruction();
    if (size == 3 && !(structure == 4 && aligned)) return other_instruction();
    if (aligned && (structure == 3 || (structure == 1 && size == 0))) return other_instruction();
    const unsigned first = first_register(word);
    if (structure == 1 && !exists(first + twice)) return start(word, size); // UNPREDICTABLE
    return lane(word, size == 3 ? 2 : size, {first, structure, twice ? 2u : 1u}, 0);
}

} // namespace

Instruction decode_structure(std::uint32_t word) {
    if (!is_set(word, 23)) return decode_multiple(word);
    const unsigned size = field(word, 11, 10);
    return size == 3 ? decode_all_lanes(word) : decode_lane(word, size);
}

} // namespace mmioscope::arch
