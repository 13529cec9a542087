#include "arch/instruction.hpp"

#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

Instruction decode_word(std::uint32_t word, bool thumb) {
    if (!thumb) return decode_arm(word);
    return is_wide_thumb(static_cast<std::uint16_t>(word >> 16)) ? decode_thumb32(word)
                                                                 : decode_thumb16(word);
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
    if (!thumb) set_arm_address(i, word);
    else if (is_wide_thumb(static_cast<std::uint16_t>(word >> 16))) set_thumb32_address(i, word);
    else set_thumb16_address(i, word);
}

Instruction decode(std::uint32_t word, bool thumb) {
    Instruction i = decode_word(word, thumb);
    // Writeback to PC is UNPREDICTABLE in every form; on some CPUs it is a branch. Rn is in bits
    // 19:16 of all 32-bit encodings.
    if (i.wide && i.writeback && rn(word) == pc) i.loads_pc = true;
    if (!i.unpredictable) return i;
    i.beats = 0;
    i.exclusive &= i.store; // what may store must not be stepped as a plain store
    return i;
}

} // namespace mmioscope::arch
