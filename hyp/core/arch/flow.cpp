#include "arch/flow.hpp"

#include "arch/forms.hpp"

namespace mmioscope::arch {

namespace {

using Kind = Flow::Kind;

constexpr Flow plain{Kind::plain};
constexpr Flow other{};

Flow plain_if(bool is_plain) {
    return is_plain ? plain : other;
}

/// The lowest `bits` bits, of two's complement.
constexpr std::int32_t sign_extended(std::uint32_t value, unsigned bits) {
    return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

Flow branch(unsigned condition, std::int32_t offset) {
    return {
        .kind = Kind::branch, .condition = static_cast<std::uint8_t>(condition), .offset = offset};
}

/// TST, TEQ, CMP and CMN have no Rd; any other must not write PC (A5.2.1).
bool keeps_pc(std::uint32_t word) {
    const unsigned rd = rt(word);
    return field(word, 24, 23) == 2 ? is_set(word, 20) && rd == 0 : rd != pc;
}

/// A5.2: data processing with registers, multiplications, CLZ.
Flow arm_registers(std::uint32_t word) {
    if (is_set(word, 7) && is_set(word, 4))
        return plain_if(field(word, 27, 24) == 0 && field(word, 7, 4) == 9 && rn(word) != pc &&
                        rt(word) != pc);
    if (field(word, 24, 23) == 2 && !is_set(word, 20))
        return plain_if(matches(word, 0x0fff'0ff0, 0x016f'0f10) && rt(word) != pc);
    return plain_if(keeps_pc(word));
}

/// A5.2: data processing with an immediate, MOVW, MOVT, NOP.
Flow arm_immediate(std::uint32_t word) {
    if (matches(word, 0x0fb0'0000, 0x0300'0000)) return plain_if(rt(word) != pc);
    if (matches(word, 0x0fff'ffff, 0x0320'f000)) return plain;
    return plain_if(keeps_pc(word));
}

/// A5.4: parallel additions, extension, reversal, saturation, bit fields.
Flow arm_media(std::uint32_t word) {
    const unsigned op = field(word, 24, 20);
    return plain_if((op < 0x10 || op >= 0x1a) && (op != 0x1f || field(word, 7, 4) != 0xf) &&
                    rt(word) != pc);
}

/// DMB, DSB, ISB: of both instruction sets, but for the bits above.
bool is_barrier(std::uint32_t word) {
    return field(word, 7, 4) >= 4 && field(word, 7, 4) <= 6;
}

Flow arm(std::uint32_t word) {
    if (word >> 28 == 0xf)
        return plain_if(matches(word, 0xffff'ff00, 0xf57f'f000) && is_barrier(word));
    switch (field(word, 27, 25)) {
    case 0: return arm_registers(word);
    case 1: return arm_immediate(word);
    case 3: return is_set(word, 4) ? arm_media(word) : other;
    case 5:
        if (is_set(word, 24)) return other; // BL
        return branch(word >> 28, sign_extended(word, 24) * 4 + 8);
    default: return other;
    }
}

/// CBZ, CBNZ (A8.8.29).
Flow compare_and_branch(std::uint32_t word) {
    Flow flow =
        branch(condition_always,
               static_cast<std::int32_t>((field(word, 9, 9) << 6 | field(word, 7, 3) << 1) + 4));
    flow.compared = static_cast<std::uint8_t>(field(word, 2, 0));
    flow.if_zero = !is_set(word, 11);
    return flow;
}

/// A6.2.5.
Flow thumb_miscellaneous(std::uint32_t word) {
    if (matches(word, 0xf500, 0xb100)) return compare_and_branch(word);
    switch (field(word, 11, 8)) {
    case 0x0: return plain;                                              // ADD, SUB of SP
    case 0x2: return plain;                                              // SXTH and others
    case 0xa: return plain_if(field(word, 7, 6) != 2);                   // REV and others
    case 0xf: return plain_if(field(word, 3, 0) != 0 || word == 0xbf00); // IT, NOP
    default: return other;
    }
}

/// A6.2.3: ADD, CMP and MOV of any registers; BX and BLX.
Flow thumb_high_registers(std::uint32_t word) {
    const unsigned rd = field(word, 7, 7) << 3 | field(word, 2, 0);
    const bool compares = field(word, 9, 8) == 1;
    return plain_if(field(word, 9, 8) != 3 && (compares || rd != pc));
}

Flow thumb16(std::uint32_t word) {
    switch (rt(word)) {
    case 0x0:
    case 0x1:
    case 0x2:
    case 0x3: return plain;
    case 0x4:
        if (field(word, 11, 10) == 0) return plain;
        return field(word, 11, 10) == 1 ? thumb_high_registers(word) : other;
    case 0xa: return plain; // ADR, ADD of SP
    case 0xb: return thumb_miscellaneous(word);
    case 0xd:
        if (field(word, 11, 8) >= condition_always) return other;
        return branch(field(word, 11, 8), sign_extended(word, 8) * 2 + 4);
    case 0xe: // what begins with 1 is wide
        return branch(condition_always, sign_extended(word, 11) * 2 + 4);
    default: return other;
    }
}

/// A6.3.4: branches, and what else has bit 15 set.
Flow thumb_control(std::uint32_t word) {
    const std::uint32_t s = field(word, 26, 26);
    const std::uint32_t j1 = field(word, 13, 13);
    const std::uint32_t j2 = field(word, 11, 11);
    const std::uint32_t low = field(word, 10, 0) << 1;
    if (is_set(word, 14)) return other; // BL, BLX, HVC, SMC
    if (is_set(word, 12)) {             // T4
        const std::uint32_t upper = s << 24 | (1 ^ j1 ^ s) << 23 | (1 ^ j2 ^ s) << 22;
        return branch(condition_always,
                      sign_extended(upper | field(word, 25, 16) << 12 | low, 25) + 4);
    }
    if (field(word, 25, 22) < condition_always) // T3
        return branch(
            field(word, 25, 22),
            sign_extended(s << 20 | j2 << 19 | j1 << 18 | field(word, 21, 16) << 12 | low, 21) + 4);
    if (word == 0xf3af'8000) return plain; // NOP
    return plain_if(matches(word, 0xffff'ff00, 0xf3bf'8f00) && is_barrier(word));
}

Flow thumb32(std::uint32_t word) {
    const bool writes_pc = field(word, 11, 8) == pc;
    switch (field(word, 31, 25)) {
    case 0x75: // A6.3.11: with registers; without Rd it compares, and sets flags
        return plain_if(!writes_pc || is_set(word, 20));
    case 0x78:
    case 0x7a:
        if (is_set(word, 15)) return thumb_control(word);
        return plain_if(!writes_pc || is_set(word, 20)); // A6.3.1
    case 0x79:
    case 0x7b:
        if (is_set(word, 15)) return thumb_control(word);
        return plain_if(!writes_pc);        // A6.3.3
    case 0x7d: return plain_if(!writes_pc); // A6.3.12 to A6.3.17
    default: return other;
    }
}

} // namespace

Flow flow_of(std::uint32_t word, bool thumb) {
    if (word == (thumb ? 0xf3bf'8f2f : 0xf57f'f01f)) return {Kind::clear_exclusive};
    const Instruction i = decode(word, thumb);
    if (i.exclusive && i.store)
        return {.kind = Kind::store_exclusive,
                .condition = static_cast<std::uint8_t>(thumb ? condition_always : word >> 28)};
    if (i.exclusive) return other;
    if (i.load && i.store) return other; // SWP
    if (i.accesses_memory()) return plain_if(i.beats != 0 && !i.loads_pc);
    if (!thumb) return arm(word);
    return is_wide_thumb(static_cast<std::uint16_t>(word >> 16)) ? thumb32(word) : thumb16(word);
}

} // namespace mmioscope::arch
