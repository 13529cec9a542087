// The Thumb subset (ARM ARM A6, A8).
#include "guest_cpu.hpp"

#include <bit>

namespace mmioscope::sim {

namespace {
struct Kind { bool load; unsigned log2_size; bool sign; };
constexpr Kind register_offset[8] = {{false, 2, false}, {false, 1, false}, {false, 0, false},
                                     {true, 0, true},   {true, 2, false},  {true, 1, false},
                                     {true, 0, false},  {true, 1, true}};
/// Bits 7:4 say which one: 2 is CLREX, which is 1 in ARM's encoding.
std::uint32_t word_of_arm_barrier(std::uint32_t word) {
    return field(word, 7, 4) == 2 ? 0xf57f'f01f : 0xf57f'f000 | (word & 0xff);
}
} // namespace

GuestCpu::Effect GuestCpu::execute_thumb(std::uint32_t word) {
    const bool flags = (it_state() & 0xf) == 0;
    const unsigned low = field(word, 2, 0);
    const unsigned high = field(word, 10, 8);
    const std::uint32_t imm8 = field(word, 7, 0);
    const auto plain = [&](bool load, unsigned log2_size, bool sign, unsigned reg,
                           std::uint32_t at) {
        return transfer({load, log2_size, sign, reg, at, 0, 0, false});
    };
    switch (field(word, 15, 11)) {
    case 0x04: set(high, flags ? add(imm8, 0, false, true) : imm8); return Effect::next;
    case 0x05: add(get(high), imm8, true, true); return Effect::next;
    case 0x06: set(high, add(get(high), imm8, false, flags)); return Effect::next;
    case 0x07: set(high, add(get(high), imm8, true, flags)); return Effect::next;
    case 0x08: // BX
        if ((word & 0xff87) == 0x4700) return exchange(get(field(word, 6, 3)));
        break;
    case 0x09: return plain(true, 2, false, high, (get(15) & ~3u) + 4 * imm8);
    case 0x0a: case 0x0b: {
        const Kind& kind = register_offset[field(word, 11, 9)];
        return plain(kind.load, kind.log2_size, kind.sign, low,
                     get(field(word, 5, 3)) + get(field(word, 8, 6)));
    }
    case 0x0c: case 0x0d: case 0x0e: case 0x0f: case 0x10: case 0x11: {
        const unsigned log2_size = field(word, 15, 12) == 6 ? 2 : field(word, 15, 12) == 7 ? 0 : 1;
        return plain(is_set(word, 11), log2_size, false, low,
                     get(field(word, 5, 3)) + (field(word, 10, 6) << log2_size));
    }
    case 0x16: case 0x17: // IT and hints; CPS
        if (word == 0xbf30) return wait_for_interrupt();
        if ((word & 0xff0f) == 0xbf00) return Effect::next;
        if ((word & 0xff00) == 0xbf00) {
            core_.frame.psr |= (word & 0xfc) << 8 | (word & 3) << 25;
            core_.frame.pc += 2;
            return Effect::jumped;
        }
        if ((word & 0xffe8) == 0xb660)
            return change_state(!is_set(word, 4), field(word, 2, 0) << 6);
        break;
    case 0x18: case 0x19: {
        const auto bytes = 4 * static_cast<std::uint32_t>(std::popcount(imm8));
        const bool load = is_set(word, 11);
        return transfer_many(load, high, get(high), imm8, get(high) + bytes,
                             !(load && is_set(imm8, high)));
    }
    case 0x1a: case 0x1b:
        if (field(word, 11, 9) == 7) break;
        if (!condition_holds(field(word, 11, 8))) return Effect::next;
        return branch(get(15) + static_cast<std::uint32_t>(static_cast<std::int8_t>(imm8) * 2));
    case 0x1c:
        return branch(get(15) +
                      static_cast<std::uint32_t>(static_cast<std::int32_t>(word << 21) >> 20));
    default: break;
    }
    undefined();
    return Effect::trapped;
}

GuestCpu::Effect GuestCpu::execute_thumb_wide(std::uint32_t word) {
    const unsigned base = field(word, 19, 16);
    const unsigned reg = field(word, 15, 12);
    if ((word & 0xfff0'f000) == 0xf7e0'8000) { // HVC returns to the next instruction
        core_.frame.pc += 4;
        return trap(0x12, 0, true);
    }
    if ((word & 0xfff0'f000) == 0xf7f0'8000) return monitor_call(); // SMC
    if ((word & 0xfb70'8000) == 0xf240'0000) {                      // MOVW, MOVT
        const std::uint32_t imm =
            base << 12 | field(word, 26, 26) << 11 | field(word, 14, 12) << 8 | field(word, 7, 0);
        const unsigned destination = field(word, 11, 8);
        const bool top = is_set(word, 23);
        set(destination, top ? (get(destination) & 0xffff) | imm << 16 : imm);
        return Effect::next;
    }
    if ((word & 0xfff0'0f00) == 0xe850'0f00 || (word & 0xfff0'0000) == 0xe840'0000 ||
        ((word & 0xffe0'00c0) == 0xe8c0'0040 && field(word, 5, 4) != 2))
        return exclusive_thumb(word);
    if ((word & 0xffff'ff00) == 0xf3bf'8f00) return barrier(word_of_arm_barrier(word));
    if ((word & 0xfe40'0000) == 0xe840'0000 &&
        (is_set(word, 24) || is_set(word, 21))) { // LDRD, STRD
        const std::uint32_t offset = 4 * field(word, 7, 0);
        const std::uint32_t moved = is_set(word, 23) ? get(base) + offset : get(base) - offset;
        return transfer_many(is_set(word, 20), base, is_set(word, 24) ? moved : get(base),
                             1u << reg | 1u << field(word, 11, 8), moved, is_set(word, 21));
    }
    if ((word & 0xffc0'0000) == 0xe880'0000) { // LDM, STM
        const auto bytes = 4 * static_cast<std::uint32_t>(std::popcount(field(word, 15, 0)));
        return transfer_many(is_set(word, 20), base, get(base), field(word, 15, 0),
                             get(base) + bytes, is_set(word, 21));
    }
    if ((word & 0xfe00'0000) == 0xf800'0000) { // single, with 12 bits, 8 bits or a register
        Transfer t{.load = is_set(word, 20),
                   .log2_size = field(word, 22, 21),
                   .sign = is_set(word, 24),
                   .reg = reg,
                   .address = get(base) + field(word, 11, 0),
                   .base = base,
                   .base_after = 0,
                   .writeback = false};
        if (!is_set(word, 23)) {
            const bool by_register = !is_set(word, 11);
            const std::uint32_t offset = by_register ? get(field(word, 3, 0)) << field(word, 5, 4)
                                                     : field(word, 7, 0);
            const bool up = by_register || is_set(word, 9);
            t.base_after = up ? get(base) + offset : get(base) - offset;
            t.address = by_register || is_set(word, 10) ? t.base_after : get(base);
            t.writeback = !by_register && is_set(word, 8);
        }
        return transfer(t);
    }
    undefined();
    return Effect::trapped;
}

} // namespace mmioscope::sim
