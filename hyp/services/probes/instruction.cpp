#include "probes/instruction.hpp"

#include "arch/flow.hpp"
#include "guest/registers.hpp"
#include "machine/cpu.hpp"
#include "port/sysreg.hpp"
#include "trap/translate.hpp"

#include <bit>

namespace mmioscope {

namespace {

/// B and BL (A8.8.18, A8.8.25).
constexpr bool is_branch(std::uint32_t word) {
    return (word & 0x0e00'0000) == 0x0a00'0000 && word >> 28 != 0xf;
}
/// BX (A8.8.27).
constexpr bool is_bx(std::uint32_t word) {
    return (word & 0x0fff'fff0) == 0x012f'ff10 && word >> 28 != 0xf && (word & 0xf) != arch::pc;
}
/// MRC p15, 0, Rt, c13, c0, 3 (B4.1.150).
constexpr bool reads_tpidruro(std::uint32_t word) {
    return (word & 0xffff'0fff) == 0xee1d'0f70 && (word >> 12 & 0xf) != arch::pc;
}
/// LDM with PC, but not that of an exception return (A8.8.58 to A8.8.61).
constexpr bool loads_pc(std::uint32_t word) {
    return (word & 0x0e50'8000) == 0x0810'8000 && word >> 28 != 0xf &&
           (word >> 16 & 0xf) != arch::pc;
}

/// Data processing of an immediate, or of a register as it is, without PC, and without ADC, SBC and
/// RSC (A5.2.1, A5.2.3).
constexpr bool computes(std::uint32_t word) {
    const unsigned op = word >> 21 & 0xf;
    const bool immediate = (word & 1u << 25) != 0, sets_flags = (word & 1u << 20) != 0;
    const auto is_pc = [word](unsigned at) { return (word >> at & 0xf) == arch::pc; };
    return (word & 0x0c00'0000) == 0 && word >> 28 != 0xf && (op < 5 || op > 7) &&
           (sets_flags || op >> 2 != 2) && !is_pc(16) && !is_pc(12) &&
           (immediate || ((word & 0xff0) == 0 && !is_pc(0)));
}

void compute(Frame& frame, std::uint32_t word) {
    enum { sub = 2, rsb, add, cmp = 10, cmn, orr, mov, bic, mvn };
    const unsigned op = word >> 21 & 0xf, rotation = word >> 7 & 0x1e;
    const bool immediate = (word & 1u << 25) != 0;
    const std::uint32_t a = guest_register(frame, word >> 16 & 0xf),
                        b = immediate ? std::rotr(word & 0xff, static_cast<int>(rotation))
                                      : guest_register(frame, word & 0xf);
    const bool subtracts = op == sub || op == rsb || op == cmp;
    const bool arithmetic = subtracts || op == add || op == cmn;
    const std::uint32_t x = op == rsb ? b : a, y = op == rsb ? ~a : subtracts ? ~b : b;
    const std::uint64_t wide = std::uint64_t{x} + y + (subtracts ? 1 : 0);
    const auto sum = static_cast<std::uint32_t>(wide);
    const std::uint32_t result = arithmetic    ? sum
                                 : op == mov   ? b
                                 : op == mvn   ? ~b
                                 : op == orr   ? a | b
                                 : op == bic   ? a & ~b
                                 : op % 8 == 0 ? a & b
                                               : a ^ b;
    if (op >> 2 != 2) set_guest_register(frame, word >> 12 & 0xf, result);
    if ((word & 1u << 20) == 0) return;
    std::uint32_t carry = frame.psr >> 29 & 1, overflow = frame.psr >> 28 & 1;
    if (arithmetic) {
        carry = static_cast<std::uint32_t>(wide >> 32);
        overflow = ((x ^ sum) & (y ^ sum)) >> 31;
    } else if (immediate && rotation != 0) {
        carry = b >> 31;
    }
    frame.psr = (frame.psr & 0x0fff'ffff) | result >> 31 << 31 | (result == 0 ? 1u << 30 : 0) |
                carry << 29 | overflow << 28;
}

} // namespace

bool is_carried_out(std::uint32_t word) {
    return computes(word) || is_branch(word) || is_bx(word) || reads_tpidruro(word);
}

bool is_plain(std::uint32_t word) {
    return arch::flow_of(word, false).kind == arch::Flow::Kind::plain;
}

bool can_be_probed(std::uint32_t word) {
    return is_carried_out(word) || loads_pc(word) || is_plain(word);
}

bool carry_out(Frame& frame, std::uint32_t word) {
    const bool to_compute = computes(word);
    if (!to_compute && !is_carried_out(word)) return false;
    const std::uint32_t next = frame.pc + 4, condition = word >> 28;
    frame.pc = next;
    if (condition != arch::condition_always && !arch::condition_passed(condition, frame.psr))
        return true;
    if (to_compute) {
        compute(frame, word);
    } else if (reads_tpidruro(word)) {
        set_guest_register(frame, word >> 12 & 0xf, port::read<reg::TPIDRURO>());
    } else if (is_bx(word)) {
        const std::uint32_t target = guest_register(frame, word & 0xf);
        frame.pc = target & ~1u;
        if ((target & 1) != 0) frame.psr |= arch::psr_thumb;
    } else {
        constexpr std::uint32_t link = 1u << 24;
        if ((word & link) != 0) set_guest_register(frame, 14, next);
        frame.pc += 4 + static_cast<std::uint32_t>(static_cast<std::int32_t>(word << 8) >> 6);
    }
    return true;
}

std::optional<std::uint32_t> next_of(Cpu& cpu, const Frame& frame, std::uint32_t word) {
    if (!loads_pc(word) || !arch::condition_passed(word >> 28, frame.psr)) return frame.pc + 4;
    const bool before = (word & 1u << 24) != 0, up = (word & 1u << 23) != 0;
    const auto count = static_cast<std::uint32_t>(std::popcount(word & 0xffff));
    const std::uint32_t base = guest_register(frame, word >> 16 & 0xf);
    // PC comes from the highest address.
    const VirtualAddress last{up ? base + 4 * (count - (before ? 0 : 1)) : base - (before ? 4 : 0)};
    const auto pa = translate(cpu, frame, last, false);
    std::uint32_t target = 0;
    if ((frame.psr & arch::psr_e) != 0 || last.value % 4 != 0 || !pa ||
        !read_guest_memory(*cpu.machine, *pa, {&target, 1}) || target % 4 != 0)
        return std::nullopt;
    return target;
}

} // namespace mmioscope
