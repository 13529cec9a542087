#include "arch/instruction.hpp"

#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

Instruction decode_form(std::uint32_t word, bool thumb) {
    if (!thumb) return decode_arm(word);
    return is_wide_thumb(static_cast<std::uint16_t>(word >> 16)) ? decode_thumb32(word)
                                                                 : decode_thumb16(word);
}

} // namespace

Instruction decode(std::uint32_t word, bool thumb) {
    Instruction i = decode_form(word, thumb);
    // Writeback to PC is UNPREDICTABLE in every form; on some CPUs it is a branch. Rn is in bits
    // 19:16 of all 32-bit encodings.
    if (i.wide && i.writeback && field(word, 19, 16) == pc) i.loads_pc = true;
    if (!i.unpredictable) return i;
    i.beats = 0;
    i.exclusive &= i.store; // what may store must not be stepped as a plain store
    return i;
}

} // namespace mmioscope::arch
