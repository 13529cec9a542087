// Writes small ARM and Thumb programs into simulated memory. Encodings are from GNU as.
#pragma once

#include "ram.hpp"

namespace mmioscope::sim {

class Code {
public:
    Code(Ram& ram, std::uint32_t address) : ram_(ram), at_(address) {}

    std::uint32_t here() const { return at_; }
    Code& word(std::uint32_t w) { return emit(w); }
    Code& half(std::uint16_t h) { return emit(h); }
    /// A 32-bit Thumb instruction, first halfword in bits 31:16.
    Code& wide(std::uint32_t w) {
        return half(static_cast<std::uint16_t>(w >> 16)).half(static_cast<std::uint16_t>(w));
    }

    Code& mov(unsigned rd, std::uint32_t v) { return movw(rd, v & 0xffff).movt(rd, v >> 16); }
    Code& movw(unsigned rd, std::uint32_t v) { return word(0xe300'0000 | imm16(rd, v)); }
    Code& movt(unsigned rd, std::uint32_t v) { return word(0xe340'0000 | imm16(rd, v)); }
    Code& add(unsigned rd, unsigned rn, std::uint32_t imm8) {
        return word(0xe280'0000 | rn << 16 | rd << 12 | imm8);
    }
    Code& subs(unsigned rd, unsigned rn, std::uint32_t imm8) {
        return word(0xe250'0000 | rn << 16 | rd << 12 | imm8);
    }
    Code& add_reg(unsigned rd, unsigned rn, unsigned rm, unsigned lsl = 0) {
        return word(0xe080'0000 | rn << 16 | rd << 12 | lsl << 7 | rm);
    }
    Code& ldr(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe590'0000 | rn << 16 | rt << 12 | offset);
    }
    Code& str(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe580'0000 | rn << 16 | rt << 12 | offset);
    }
    Code& ldrb(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe5d0'0000 | rn << 16 | rt << 12 | offset);
    }
    Code& strb(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe5c0'0000 | rn << 16 | rt << 12 | offset);
    }
    Code& ldrh(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe1d0'00b0 | extra(rt, rn, offset));
    }
    Code& strh(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe1c0'00b0 | extra(rt, rn, offset));
    }
    Code& ldrsb(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe1d0'00d0 | extra(rt, rn, offset));
    }
    Code& ldrsh(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe1d0'00f0 | extra(rt, rn, offset));
    }
    Code& ldrd(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe1c0'00d0 | extra(rt, rn, offset));
    }
    Code& strd(unsigned rt, unsigned rn, unsigned offset = 0) {
        return word(0xe1c0'00f0 | extra(rt, rn, offset));
    }
    /// LDR rt, [rn], #offset
    Code& ldr_post(unsigned rt, unsigned rn, unsigned offset) {
        return word(0xe490'0000 | rn << 16 | rt << 12 | offset);
    }
    /// STR rt, [rn], #offset
    Code& str_post(unsigned rt, unsigned rn, unsigned offset) {
        return word(0xe480'0000 | rn << 16 | rt << 12 | offset);
    }
    Code& ldm(unsigned rn, std::uint32_t list) { return word(0xe890'0000 | rn << 16 | list); }
    Code& stm(unsigned rn, std::uint32_t list) { return word(0xe880'0000 | rn << 16 | list); }
    Code& b(std::uint32_t target) { return word(0xea00'0000 | offset24(target)); }
    Code& bne(std::uint32_t target) { return word(0x1a00'0000 | offset24(target)); }
    Code& bx(unsigned rm) { return word(0xe12f'ff10 | rm); }
    Code& hvc() { return word(0xe140'0070); }
    Code& smc() { return word(0xe160'0070); }
    Code& nop() { return word(0xe320'f000); }
    Code& wfi() { return word(0xe320'f003); }
    Code& cpsie_aif() { return word(0xf108'01c0); }
    Code& cpsid_aif() { return word(0xf10c'01c0); }
    Code& cps(unsigned mode) { return word(0xf102'0000 | mode); }
    Code& set_vbar(unsigned rt) { return word(0xee0c'0f10 | rt << 12); }
    /// TPIDRURO, where Linux keeps the task.
    Code& set_task(unsigned rt) { return word(0xee0d'0f70 | rt << 12); }
    Code& dcimvac(unsigned rt) { return word(0xee07'0f36 | rt << 12); }
    /// Ends the program: a branch to itself.
    Code& end() { return b(at_); }

    /// Continues in Thumb state, right behind; changes r12.
    Code& to_thumb() { return mov(12, at_ + 12 + 1).bx(12); }
    /// Returns to ARM state, right behind; changes r12.
    Code& to_arm() {
        if (at_ % 4 != 0) half(0xbf00);
        return mov_w(12, at_ + 12).half(0x4760).half(0xbf00); // bx r12
    }
    // MOVW and MOVT; LDR and STR of each size with an offset, of 32 bits (A6.3).
    Code& mov_w(unsigned rd, std::uint32_t v) {
        return wide(0xf240'0000 | thumb_imm16(rd, v)).wide(0xf2c0'0000 | thumb_imm16(rd, v >> 16));
    }
    Code& load_w(unsigned log2_size, bool sign, unsigned rt, unsigned rn, unsigned offset) {
        return wide(0xf890'0000 | log2_size << 21 | (sign ? 1u : 0u) << 24 | rn << 16 | rt << 12 |
                    offset);
    }
    Code& store_w(unsigned log2_size, unsigned rt, unsigned rn, unsigned offset) {
        return wide(0xf880'0000 | log2_size << 21 | rn << 16 | rt << 12 | offset);
    }
    /// LDR, STR, LDRB, STRB, LDRH or STRH of 16 bits: `rt` and `rn` below 8.
    Code& narrow(bool load, unsigned log2_size, unsigned rt, unsigned rn, unsigned offset) {
        constexpr unsigned opcode[] = {0x7000, 0x8000, 0x6000};
        return half(static_cast<std::uint16_t>(opcode[log2_size] | (load ? 0x800u : 0u) |
                                               (offset >> log2_size) << 6 | rn << 3 | rt));
    }
    Code& end_thumb() { return half(0xe7fe); }

private:
    template <class T>
    Code& emit(T v) {
        ram_.store(at_, v);
        at_ += sizeof v;
        return *this;
    }
    static std::uint32_t imm16(unsigned rd, std::uint32_t v) {
        return (v >> 12) << 16 | rd << 12 | (v & 0xfff);
    }
    static std::uint32_t thumb_imm16(unsigned rd, std::uint32_t v) {
        return (v >> 12 & 0xf) << 16 | (v >> 11 & 1) << 26 | (v >> 8 & 7) << 12 | rd << 8 |
               (v & 0xff);
    }
    static std::uint32_t extra(unsigned rt, unsigned rn, unsigned offset) {
        return rn << 16 | rt << 12 | (offset >> 4) << 8 | (offset & 0xf);
    }
    std::uint32_t offset24(std::uint32_t target) const {
        return ((target - at_ - 8) >> 2) & 0xff'ffff;
    }

    Ram& ram_;
    std::uint32_t at_;
};

} // namespace mmioscope::sim
