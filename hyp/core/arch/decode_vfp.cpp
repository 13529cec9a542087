// Coprocessor loads and stores: VFP registers (DDI 0406C: A7.6) and others (A5.6). Of the latter,
// Cortex-A CPUs have only LDC and STC of CP14, for the debug unit's channel.
#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

constexpr unsigned vector_words = 64;

/// Consecutive words of the register file, from word `first` on. Too many are UNPREDICTABLE.
Instruction words(bool load, unsigned first, unsigned count, bool pairs) {
    Instruction i = access(load);
    i.bank = Bank::vector;
    i.pairs = pairs;
    const unsigned end = pairs ? vector_words : vector_words / 2;
    if (count > max_beats || first + count > end) return i;
    for (i.beats = 0; i.beats < count; ++i.beats)
        i.place[i.beats] = static_cast<std::uint8_t>(4 * (first + i.beats));
    return i;
}

/// P, U, D, W and L are bits 24 to 20; singles are numbered Vd:D, doublewords D:Vd.
Instruction decode_vfp(std::uint32_t word) {
    const bool indexed = is_set(word, 24);
    const bool writeback = is_set(word, 21);
    const bool load = is_set(word, 20);
    const bool doubles = is_set(word, 8);
    const unsigned d = field(word, 22, 22);
    const unsigned first = doubles ? 2 * (d << 4 | rt(word)) : rt(word) << 1 | d;
    if (indexed == is_set(word, 23) && writeback) return other_instruction();
    const bool one = indexed && !writeback; // VLDR, VSTR

    // An odd count of words is FLDMX or FSTMX, which do not transfer the last word (A8.8.332).
    const unsigned count = one ? (doubles ? 2 : 1) : field(word, 7, 0) & ~(doubles ? 1u : 0u);
    Instruction i = words(load, first, count, doubles);
    i.writeback = writeback;
    i.address = at_offset_of(word, 4 * field(word, 7, 0));
    return i;
}

} // namespace

Instruction decode_coprocessor(std::uint32_t word, bool unconditional) {
    constexpr std::uint32_t p_u_w = 0x01a0'0000;
    if ((word & p_u_w) == 0) return other_instruction(); // MCRR and MRRC, or UNDEFINED
    if (field(word, 11, 9) == 5) return unconditional ? other_instruction() : decode_vfp(word);
    Instruction i = access(is_set(word, 20));
    i.writeback = is_set(word, 21);
    return i;
}

} // namespace mmioscope::arch
