#include "arch/forms.hpp"

#include <bit>

namespace mmioscope::arch {

namespace {

/// The offset of the first word of `bytes` bytes that begin or end at the base register's value, or
/// next to it.
unsigned first_offset(unsigned bytes, bool increment, bool before) {
    if (increment) return before ? 4 : 0;
    return (before ? 0 : 4) - bytes;
}

void add_core(Instruction& i, unsigned reg) {
    i.place[i.beats++] = static_cast<std::uint8_t>(reg);
    if (i.load && reg == pc) i.loads_pc = true;
}

/// The offset of RFE's and SRS's first word; in ARM bit 24 says whether it is before, in Thumb it
/// is when it decrements.
unsigned state_offset(std::uint32_t word) {
    const bool increment = is_set(word, 23), arm = word >> 28 == 0xf;
    return first_offset(8, increment, arm ? is_set(word, 24) : !increment);
}

} // namespace

Instruction dual(bool load, unsigned first, unsigned second, Address address) {
    Instruction i = access(load);
    i.address = address;
    add_core(i, first);
    add_core(i, second);
    return i;
}

bool moves_base(const Instruction& i, unsigned base) {
    for (unsigned n = 0; i.writeback && n < i.beats; ++n)
        if (i.place[n] == base) return true;
    return false;
}

// STM stores the old value of a base that is the lowest register, and else an UNKNOWN one.
Instruction block(bool load, unsigned base, unsigned list, Direction direction) {
    Instruction i = access(load);
    i.writeback = direction.writeback;
    const bool lowest = (list & ((1u << base) - 1)) == 0;
    i.unpredictable =
        base == pc || (direction.writeback && is_set(list, base) && (load || !lowest));
    for (unsigned left = list; left != 0; left &= left - 1)
        add_core(i, static_cast<unsigned>(std::countr_zero(left)));
    i.address = at_offset(base, first_offset(4 * i.beats, direction.increment, direction.before));
    return i;
}

Instruction exclusive(bool load, unsigned log2_size, unsigned reg, unsigned second, unsigned status,
                      Address address) {
    Instruction i = log2_size == 3 ? dual(load, reg, second, address)
                                   : single(load, reg, log2_size, false, false);
    i.exclusive = true;
    i.address = address;
    i.unpredictable = address.base == pc;
    if (load) return i;
    i.status = static_cast<std::uint8_t>(status);
    i.unpredictable |= status == pc || status == address.base;
    for (unsigned n = 0; n < i.beats; ++n)
        i.unpredictable |= i.place[n] == pc || i.place[n] == status;
    return i;
}

Instruction return_state(std::uint32_t word) {
    Instruction i = dual(true, pc, place_spsr, at_offset(rn(word), state_offset(word)));
    i.writeback = is_set(word, 21);
    return i;
}

Instruction store_state(std::uint32_t word) {
    // Bit n: 0x10 + n is a mode of the guest's; Monitor and Hyp mode are not (table B1-1).
    constexpr unsigned modes = 0x888f;
    const unsigned mode = field(word, 4, 0);
    Instruction i = dual(false, lr, place_spsr, at_offset(sp, state_offset(word)));
    i.address.base_mode = static_cast<std::uint8_t>(mode);
    i.unpredictable = mode < 0x10 || !is_set(modes, mode & 0xf);
    i.writeback = is_set(word, 21);
    return i;
}

} // namespace mmioscope::arch
