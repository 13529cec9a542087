#include "arch/instruction.hpp"

#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

const Row& row_of(std::uint32_t word, bool thumb) {
    const bool wide = is_wide_thumb(static_cast<std::uint16_t>(word >> 16));
    const Row* row = thumb ? (wide ? thumb32_rows : thumb16_rows)
                           : (word >> 28 == 0xf ? arm_unconditional_rows : arm_rows);
    while ((word & row->mask) != row->value) ++row;
    return *row;
}

} // namespace

std::uint32_t shifted(std::uint32_t value, unsigned shift, bool carry) {
    enum { lsl, lsr, asr, ror };
    const unsigned amount = shift >> 2;
    switch (shift & 3) {
    case lsl: return value << amount;
    case lsr: return amount == 0 ? 0 : value >> amount;
    case asr:
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >>
                                          (amount == 0 ? 31 : amount));
    default: break;
    }
    if (amount == 0) return (carry ? 1u << 31 : 0) | value >> 1; // RRX
    return value >> amount | value << (32 - amount);
}

void set_address(Instruction& i, std::uint32_t word, bool thumb) {
    const Row& row = row_of(word, thumb);
    if (row.address != nullptr) i.address = row.address(word);
}

Instruction decode(std::uint32_t word, bool thumb) {
    Instruction i = row_of(word, thumb).accesses(word);
    // Writeback to PC is UNPREDICTABLE in every form; on some CPUs it is a branch. Rn is in bits
    // 19:16 of all 32-bit encodings.
    if (thumb && !is_wide_thumb(static_cast<std::uint16_t>(word >> 16))) i.wide = false;
    else if (i.writeback && rn(word) == pc) i.loads_pc = true;
    if (!i.unpredictable) return i;
    i.beats = 0;
    i.exclusive &= i.store; // what may store must not be stepped as a plain store
    return i;
}

Flow flow_of(std::uint32_t word, bool thumb) {
    const Instruction i = decode(word, thumb);
    if (!i.accesses_memory()) return row_of(word, thumb).flow(word);
    if (i.exclusive && i.store)
        return {.kind = Flow::Kind::store_exclusive,
                .condition = static_cast<std::uint8_t>(thumb ? condition_always : word >> 28)};
    const bool swap = i.load && i.store;
    return i.beats != 0 && !i.loads_pc && !i.exclusive && !swap ? plain(word) : other(word);
}

} // namespace mmioscope::arch
