// 32-bit Thumb encodings, the first halfword in bits 31:16 (DDI 0406C: A6.3).
#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

/// The addressing of a single load or store, by bits 23 and 11:6 (A6.3.7 to A6.3.10).
enum class Mode { undefined, plain, unprivileged, writeback };

Mode mode_of(std::uint32_t word) {
    if (is_set(word, 23) || rn(word) == pc) return Mode::plain; // 12 bits; literal
    if (!is_set(word, 11)) return field(word, 10, 6) == 0 ? Mode::plain : Mode::undefined;
    if (is_set(word, 8)) return Mode::writeback;
    if (!is_set(word, 10)) return Mode::undefined; // neither indexed nor with writeback
    return is_set(word, 9) ? Mode::unprivileged : Mode::plain;
}

/// The offset that is added before the access: the 12 bits of a literal, or by mode_of().
Address single_address(std::uint32_t word) {
    const unsigned base = rn(word);
    if (base == pc) return at_offset(pc, field(word, 11, 0), is_set(word, 23));
    if (is_set(word, 23)) return at_offset(base, field(word, 11, 0));
    if (!is_set(word, 11)) return at_index(base, rm(word), field(word, 5, 4) << 2);
    return at_offset(base, is_set(word, 10) ? field(word, 7, 0) : 0, is_set(word, 9));
}

// Size in bits 22:21, L in bit 20, sign in bit 24.
Instruction thumb_single(std::uint32_t word) {
    const bool load = is_set(word, 20);
    const bool sign = is_set(word, 24);
    const unsigned size = field(word, 22, 21);
    const Mode mode = mode_of(word);
    if (size == 3 || (sign && size == 2) || mode == Mode::undefined) return other_instruction();
    if (!load && rn(word) == pc) return other_instruction();
    if (load && size != 2 && rt(word) == pc && mode == Mode::plain)
        return other_instruction(); // PLD, PLI
    Instruction i = single(load, rt(word), size, sign, mode == Mode::writeback);
    const bool any_register = size == 2 && mode != Mode::unprivileged;
    const bool by_register = !is_set(word, 23) && rn(word) != pc && !is_set(word, 11);
    i.unpredictable = (!any_register && bad(rt(word))) || (!load && rt(word) == pc) ||
                      (by_register && bad(rm(word))) || moves_base(i, rn(word));
    return i;
}

/// LDRD, STRD (A8.8.72, A8.8.73, A8.8.210).
Instruction thumb_dual(std::uint32_t word) {
    const bool load = is_set(word, 20);
    Instruction i = dual(load, rt(word), rt2(word), at_offset_of(word, 4 * field(word, 7, 0)));
    i.writeback = is_set(word, 21);
    i.unpredictable = bad(rt(word)) || bad(rt2(word)) || (load && rt(word) == rt2(word)) ||
                      (!load && rn(word) == pc) || moves_base(i, rn(word));
    return i;
}

/// A store-exclusive whose result is in `status`: SP is as bad as PC.
Instruction thumb_exclusive_store(std::uint32_t word, unsigned log2_size, unsigned status,
                                  Address address) {
    Instruction i = exclusive_store(log2_size, rt(word), rt2(word), status, address);
    i.unpredictable |= rt(word) == sp || status == sp || (log2_size == 3 && rt2(word) == sp);
    return i;
}

/// LDREX and STREX, which have an offset.
Instruction thumb_exclusive_word(std::uint32_t word) {
    const Address address = at_offset(rn(word), 4 * field(word, 7, 0));
    if (!is_set(word, 20)) return thumb_exclusive_store(word, 2, rt2(word), address);
    if (rt2(word) != 0xf) return other_instruction();
    Instruction i = exclusive_load(2, rt(word), 0, address);
    i.unpredictable |= bad(rt(word));
    return i;
}

/// TBB, TBH: branch by the value loaded.
Instruction table_branch(bool halfwords) {
    return single(true, pc, halfwords ? 1 : 0, false, false);
}

/// The other sizes, by bits 7:4: 01ss; a doubleword has its second register in bits 11:8.
Instruction thumb_exclusive_sized(std::uint32_t word) {
    if (matches(word, 0x0010'ffe0, 0x0010'f000)) return table_branch(is_set(word, 4));
    const unsigned size = field(word, 5, 4);
    if (field(word, 7, 6) != 1 || size == 2) return other_instruction();
    if (size != 3 && rt2(word) != 0xf) return other_instruction();
    const Address address = at_offset(rn(word));
    if (!is_set(word, 20)) return thumb_exclusive_store(word, size, rm(word), address);
    if (rm(word) != 0xf) return other_instruction();
    Instruction i = exclusive_load(size, rt(word), rt2(word), address);
    i.unpredictable |= bad(rt(word)) || (size == 3 && (bad(rt2(word)) || rt(word) == rt2(word)));
    return i;
}

// A6.3.6: dual with P or W; without both, exclusive and table branch.
Instruction thumb_dual_or_exclusive(std::uint32_t word) {
    if (is_set(word, 24) || is_set(word, 21)) return thumb_dual(word);
    return is_set(word, 23) ? thumb_exclusive_sized(word) : thumb_exclusive_word(word);
}

// A6.3.5: op 01 increments after, 10 decrements before; 00 and 11 are RFE and SRS.
Instruction thumb_block(std::uint32_t word) {
    const bool load = is_set(word, 20);
    const unsigned op = field(word, 24, 23);
    const bool writeback = is_set(word, 21);
    if (op == 1 || op == 2) {
        Instruction i = block(load, rn(word), word & 0xffff, {op == 1, op == 2, writeback});
        i.unpredictable |= i.beats < 2 || is_set(word, sp) || moves_base(i, rn(word)) ||
                           (is_set(word, pc) && (!load || is_set(word, 14)));
        return i;
    }
    if (matches(word, 0x0010'ffff, 0x0010'c000))
        return return_state(rn(word), op == 3, op == 0, writeback);
    if (matches(word, 0x001f'ffe0, 0x000d'c000))
        return store_state(field(word, 4, 0), op == 3, op == 0, writeback);
    return other_instruction();
}

/// Only VLDR may be relative to PC (A8.8.332, A8.8.412, A8.8.413).
Instruction thumb_coprocessor(std::uint32_t word) {
    Instruction i = decode_coprocessor(word, false);
    const bool vldr = i.load && is_set(word, 24) && !is_set(word, 21);
    i.unpredictable |= rn(word) == pc && !vldr;
    return i;
}

} // namespace

void set_thumb32_address(Instruction& i, std::uint32_t word) {
    const bool structure = matches(word, 0x0110'0000, 0x0100'0000);
    if (field(word, 31, 25) == 0x7c && !structure) i.address = single_address(word);
}

Instruction decode_thumb32(std::uint32_t word) {
    switch (field(word, 31, 25)) {
    case 0x74: return is_set(word, 22) ? thumb_dual_or_exclusive(word) : thumb_block(word);
    case 0x7c:
        return matches(word, 0x0110'0000, 0x0100'0000) ? decode_structure(word)
                                                       : thumb_single(word);
    case 0x76: return thumb_coprocessor(word);
    case 0x7e: return decode_coprocessor(word, true);
    default: return other_instruction();
    }
}

} // namespace mmioscope::arch
