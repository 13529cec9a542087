#include "probes/instruction.hpp"

#include "arch/flow.hpp"
#include "guest/registers.hpp"
#include "port/sysreg.hpp"
#include "trap/translate.hpp"

#include <bit>

namespace mmioscope {

namespace {

constexpr unsigned pc = 15;

/// B and BL (A8.8.18, A8.8.25).
constexpr bool is_branch(std::uint32_t word) {
    return (word & 0x0e00'0000) == 0x0a00'0000 && word >> 28 != 0xf;
}
/// BX (A8.8.27).
constexpr bool is_bx(std::uint32_t word) {
    return (word & 0x0fff'fff0) == 0x012f'ff10 && word >> 28 != 0xf && (word & 0xf) != pc;
}
/// MRC p15, 0, Rt, c13, c0, 3 (B4.1.150).
constexpr bool reads_tpidruro(std::uint32_t word) {
    return (word & 0xffff'0fff) == 0xee1d'0f70 && (word >> 12 & 0xf) != pc;
}
/// LDM with PC, but not that of an exception return (A8.8.58 to A8.8.61).
constexpr bool loads_pc(std::uint32_t word) {
    return (word & 0x0e50'8000) == 0x0810'8000 && word >> 28 != 0xf && (word >> 16 & 0xf) != pc;
}

} // namespace

bool is_plain(std::uint32_t word) {
    return arch::flow_of(word, false).kind == arch::Flow::Kind::plain;
}

bool can_be_probed(std::uint32_t word) {
    return is_branch(word) || is_bx(word) || reads_tpidruro(word) || loads_pc(word) ||
           is_plain(word);
}

bool carry_out(Frame& frame, std::uint32_t word) {
    const std::uint32_t next = frame.pc + 4;
    if (reads_tpidruro(word)) {
        set_guest_register(frame, word >> 12 & 0xf, port::read<reg::TPIDRURO>());
        frame.pc = next;
        return true;
    }
    if (!is_branch(word) && !is_bx(word)) return false;
    if (!arch::condition_passed(word >> 28, frame.psr)) {
        frame.pc = next;
    } else if (is_bx(word)) {
        const std::uint32_t target = guest_register(frame, word & 0xf);
        frame.pc = target & ~1u;
        if ((target & 1) != 0) frame.psr |= arch::psr_thumb;
    } else {
        constexpr std::uint32_t link = 1u << 24;
        if ((word & link) != 0) set_guest_register(frame, 14, next);
        frame.pc += 8 + static_cast<std::uint32_t>(static_cast<std::int32_t>(word << 8) >> 6);
    }
    return true;
}

std::optional<std::uint32_t> next_of(const Machine& machine, const Frame& frame,
                                     std::uint32_t word) {
    if (!loads_pc(word) || !arch::condition_passed(word >> 28, frame.psr)) return frame.pc + 4;
    const bool before = (word & 1u << 24) != 0, up = (word & 1u << 23) != 0;
    const auto count = static_cast<std::uint32_t>(std::popcount(word & 0xffff));
    const std::uint32_t base = guest_register(frame, word >> 16 & 0xf);
    // PC comes from the highest address.
    const VirtualAddress last{up ? base + 4 * (count - (before ? 0 : 1)) : base - (before ? 4 : 0)};
    const auto pa = translate(frame, last);
    std::uint32_t target = 0;
    if ((frame.psr & arch::psr_e) != 0 || last.value % 4 != 0 || !pa ||
        !read_guest_memory(machine, *pa, {&target, 1}) || target % 4 != 0)
        return std::nullopt;
    return target;
}

} // namespace mmioscope
