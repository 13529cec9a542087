// ARM encodings (DDI 0406C: A5.2, A5.3, A5.5, A5.7).
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

// A8.8.72 to A8.8.74, A8.8.210, A8.8.211.
Instruction arm_dual(std::uint32_t word, bool load) {
    const unsigned first = rt(word);
    Instruction i = dual(load, first, first + 1, extra_address(word));
    i.writeback = writes_back(word);
    const bool loads_offset = load && !is_set(word, 22) && rm(word) / 2 == first / 2;
    const bool unprivileged = !is_set(word, 24) && is_set(word, 21);
    i.unpredictable = first % 2 != 0 || first == 14 || unprivileged || loads_offset ||
                      bad_extra_offset(word) || moves_base(i, rn(word));
    return i;
}

// A5.2.8, A5.2.9: halfword, signed and dual, by bits 6:5 and L.
Instruction arm_extra(std::uint32_t word) {
    const bool load = is_set(word, 20);
    const unsigned kind = field(word, 6, 5);
    if (!load && kind != 1) return arm_dual(word, kind == 2);
    Instruction i = single(load, rt(word), kind == 2 ? 0 : 1, kind != 1, writes_back(word));
    i.unpredictable =
        rt(word) == pc || bad_extra_offset(word) || (i.writeback && rn(word) == rt(word));
    return i;
}

/// SWP, SWPB (A8.8.229): the load into Rt, then the store of Rt2.
Instruction arm_swap(std::uint32_t word) {
    if (!matches(word, 0x0fb0'0ff0, 0x0100'0090)) return other_instruction();
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
Instruction arm_synchronization(std::uint32_t word) {
    if (!is_set(word, 23)) return arm_swap(word);
    constexpr unsigned exclusive_size[4] = {2, 3, 0, 1};
    const unsigned size = exclusive_size[field(word, 22, 21)];
    const Address address = at_offset(rn(word));
    if (matches(word, 0x0010'0fff, 0x0010'0f9f)) {
        Instruction i = exclusive_load(size, rt(word), rt(word) + 1, address);
        i.unpredictable |= size == 3 && (rt(word) % 2 != 0 || rt(word) == 14);
        return i;
    }
    if (!matches(word, 0x0010'0ff0, 0x0000'0f90)) return other_instruction();
    Instruction i = exclusive_store(size, rm(word), rm(word) + 1, rt(word), address);
    i.unpredictable |= size == 3 && rm(word) % 2 != 0;
    return i;
}

// A5.2 with bits 7 and 4 set, among multiplications and data processing.
Instruction arm_mixed(std::uint32_t word) {
    if (field(word, 6, 5) != 0) return arm_extra(word);
    return is_set(word, 24) ? arm_synchronization(word) : other_instruction();
}

// A5.3
Instruction arm_single(std::uint32_t word) {
    const bool byte = is_set(word, 22);
    Instruction i = single(is_set(word, 20), rt(word), byte ? 0 : 2, false, writes_back(word));
    i.unpredictable = (byte && rt(word) == pc) || (is_set(word, 25) && rm(word) == pc) ||
                      (i.writeback && rn(word) == rt(word));
    return i;
}

// A5.5; bit 22: the registers of User mode, or, with PC, an exception return.
Instruction arm_block(std::uint32_t word) {
    const bool writeback = is_set(word, 21);
    Instruction i = block(is_set(word, 20), rn(word), word & 0xffff,
                          {is_set(word, 23), is_set(word, 24), writeback});
    if (!is_set(word, 22)) return i;
    i.bank = Bank::user;
    i.unpredictable |= writeback;
    return i;
}

// A5.7: RFE and SRS.
Instruction arm_state(std::uint32_t word) {
    const bool increment = is_set(word, 23);
    const bool before = is_set(word, 24);
    if (matches(word, 0xfe50'ffff, 0xf810'0a00))
        return return_state(rn(word), increment, before, is_set(word, 21));
    if (matches(word, 0xfe5f'ffe0, 0xf84d'0500))
        return store_state(field(word, 4, 0), increment, before, is_set(word, 21));
    return other_instruction();
}

Instruction arm_unconditional(std::uint32_t word) {
    switch (field(word, 27, 25)) {
    case 2: return matches(word, 0x0110'0000, 0) ? decode_structure(word) : other_instruction();
    case 4: return arm_state(word);
    case 6: return decode_coprocessor(word, true);
    default: return other_instruction();
    }
}

} // namespace

void set_arm_address(Instruction& i, std::uint32_t word) {
    switch (field(word, 27, 25)) {
    case 0:
        if (field(word, 6, 5) != 0) i.address = extra_address(word);
        return;
    case 2:
    case 3: i.address = single_address(word); return;
    default: return;
    }
}

Instruction decode_arm(std::uint32_t word) {
    if ((word >> 28) == 0xf) return arm_unconditional(word);
    switch (field(word, 27, 25)) {
    case 0: return is_set(word, 7) && is_set(word, 4) ? arm_mixed(word) : other_instruction();
    case 2: return arm_single(word);
    case 3:
        return is_set(word, 4) ? other_instruction()
                               : arm_single(word); // with bit 4: media instructions
    case 4: return arm_block(word);
    case 6: return decode_coprocessor(word, false);
    default: return other_instruction();
    }
}

} // namespace mmioscope::arch
