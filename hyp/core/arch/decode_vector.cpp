// Loads and stores of coprocessors, where Cortex-A CPUs have VFP (DDI 0406C: A7.6), and LDC and STC
// of CP14 for the debug unit's channel (A5.6); and NEON element or structure loads and stores
// (A7.7, A8.8.320 to A8.8.331, A8.8.404 to A8.8.411). Elements are accessed one by one in address
// order; an element of 64 bits is two words (A3.5.3).
#include "arch/forms.hpp"

#include <iterator>

namespace mmioscope::arch {

namespace {

/// D, Vd: a D register.
constexpr unsigned first_register(std::uint32_t word) {
    return field(word, 22, 22) << 4 | rt(word);
}
constexpr bool exists(unsigned last_register) {
    return last_register < 32;
}

/// Singles are numbered Vd:D.
Instruction vfp(std::uint32_t word) {
    const auto [increment, indexed, writeback] = direction_of(word);
    if (indexed == increment && writeback) return {};
    const bool one = indexed && !writeback; // VLDR, VSTR
    Instruction i = access(is_set(word, 20));
    i.bank = Bank::vector;
    i.pairs = is_set(word, 8);
    i.writeback = writeback;
    i.address = at_offset_of(word, 4 * field(word, 7, 0));

    // An odd count of words is FLDMX or FSTMX, which do not transfer the last word (A8.8.332).
    const unsigned count = one ? (i.pairs ? 2 : 1) : field(word, 7, 0) & ~(i.pairs ? 1u : 0u);
    const unsigned first = i.pairs ? 2 * first_register(word) : rt(word) << 1 | field(word, 22, 22);
    if (count > max_beats || first + count > (i.pairs ? 64 : 32)) return i; // UNPREDICTABLE
    for (; i.beats < count; ++i.beats)
        i.place[i.beats] = static_cast<std::uint8_t>(4 * (first + i.beats));
    return i;
}

/// Registers that an instruction names.
struct Registers {
    unsigned structure; ///< elements in a structure: 1 to 4
    unsigned step;      ///< distance between the registers of one structure
    unsigned runs{1};   ///< structures' worth of registers
};

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

/// Elements `element` up to `end` of each register, each with the others of its structure.
Instruction elements(std::uint32_t word, unsigned log2_size, Registers r, unsigned element,
                     unsigned end) {
    Instruction i = start(word, log2_size);
    const unsigned first = first_register(word);
    if (!exists(first + r.runs - 1 + (r.structure - 1) * r.step)) return i; // UNPREDICTABLE
    for (unsigned run = 0; run < r.runs; ++run)
        for (unsigned e = element; e < end; ++e)
            for (unsigned n = 0; n < r.structure; ++n)
                i.place[i.beats++] =
                    static_cast<std::uint8_t>(8 * (first + run + n * r.step) + (e << i.log2_size));
    return i;
}

// A7.7: bits 11:8 give structure, step and runs; some alignments are UNDEFINED.
Instruction multiple(std::uint32_t word) {
    constexpr struct {
        std::uint8_t structure, step, runs, alignments;
    } types[] = {{4, 1, 1, 4}, {4, 2, 1, 4}, {1, 1, 4, 4}, {2, 2, 2, 4}, {3, 1, 1, 2}, {3, 2, 1, 2},
                 {1, 1, 3, 2}, {1, 1, 1, 2}, {2, 1, 1, 3}, {2, 2, 1, 3}, {1, 1, 2, 3}};
    const unsigned type = field(word, 11, 8), size = field(word, 7, 6);
    if (type >= std::size(types)) return {};
    const auto& [structure, step, runs, alignments] = types[type];
    if (field(word, 5, 4) >= alignments || (size == 3 && structure > 1)) return {};
    Instruction i = elements(word, size, {structure, step, runs}, 0, size == 3 ? 2u : 8u >> size);
    i.consecutive = structure == 1;
    return i;
}

/// One structure: each of its elements goes to lane `element` of its register.
Instruction one_structure(std::uint32_t word, unsigned log2_size, unsigned structure, bool apart,
                          unsigned element) {
    return elements(word, log2_size, {structure, apart ? 2u : 1u}, element, element + 1);
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

Instruction lane(std::uint32_t word, unsigned log2_size) {
    const unsigned structure = field(word, 9, 8) + 1;
    const unsigned index_align = field(word, 7, 4);
    if (lane_undefined(structure, log2_size, index_align)) return {};
    const bool apart = structure > 1 && log2_size > 0 && is_set(index_align, log2_size);
    return one_structure(word, log2_size, structure, apart, index_align >> (log2_size + 1));
}

/// T (bit 5) doubles VLD1's registers, and the step of the others.
Instruction all_lanes(std::uint32_t word) {
    const unsigned structure = field(word, 9, 8) + 1;
    const unsigned size = field(word, 7, 6);
    const bool aligned = is_set(word, 4);
    const bool twice = is_set(word, 5);
    if (!is_set(word, 21)) return {};
    if (size == 3 && !(structure == 4 && aligned)) return {};
    if (aligned && (structure == 3 || (structure == 1 && size == 0))) return {};
    if (structure == 1 && !exists(first_register(word) + twice))
        return start(word, size); // UNPREDICTABLE
    return one_structure(word, size == 3 ? 2 : size, structure, twice, 0);
}

} // namespace

Instruction coprocessor(std::uint32_t word) {
    if (field(word, 11, 9) == 5) return vfp(word);
    Instruction i = access(is_set(word, 20));
    i.writeback = is_set(word, 21);
    return i;
}

Instruction structure(std::uint32_t word) {
    if (!is_set(word, 23)) return multiple(word);
    const unsigned size = field(word, 11, 10);
    return size == 3 ? all_lanes(word) : lane(word, size);
}

} // namespace mmioscope::arch
