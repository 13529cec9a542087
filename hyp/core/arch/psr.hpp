// Program status registers (ARM ARM B1.3.3).
#pragma once

#include "base/field.hpp"

namespace mmioscope::arch {

/// CPSR.M (B1.3.1, table B1-1).
enum class Mode : std::uint32_t {
    usr = 0x10,
    fiq = 0x11,
    irq = 0x12,
    svc = 0x13,
    mon = 0x16,
    abt = 0x17,
    hyp = 0x1a,
    und = 0x1b,
    sys = 0x1f,
};

inline constexpr std::uint32_t psr_mode = 0x1f;
inline constexpr std::uint32_t psr_thumb = bit(5);
inline constexpr std::uint32_t psr_f = bit(6);
inline constexpr std::uint32_t psr_i = bit(7);
inline constexpr std::uint32_t psr_a = bit(8);
inline constexpr std::uint32_t psr_aif = psr_a | psr_i | psr_f;
inline constexpr std::uint32_t psr_e = bit(9);
inline constexpr std::uint32_t psr_j = bit(24);
inline constexpr std::uint32_t psr_c = bit(29);
inline constexpr std::uint32_t psr_it = 0x0600'fc00; ///< ITSTATE

constexpr Mode mode_of(std::uint32_t psr) {
    return Field<4, 0, Mode>::get(psr);
}

/// A CPU after reset, in SVC: the guest's initial state.
inline constexpr std::uint32_t psr_guest_reset = static_cast<std::uint32_t>(Mode::svc) | psr_aif;

/// ITSTATE (A2.5.2): PSR[15:10] is bits 7:2, PSR[26:25] is bits 1:0; 0 outside IT blocks.
constexpr std::uint32_t it_state(std::uint32_t psr) {
    return (Field<15, 10>::get(psr) << 2) | Field<26, 25>::get(psr);
}

/// ConditionPassed() for `condition` (A8.3.1).
constexpr bool condition_passed(unsigned condition, std::uint32_t psr) {
    const bool n = Bit<31>::get(psr);
    const bool z = Bit<30>::get(psr);
    const bool c = Bit<29>::get(psr);
    const bool v = Bit<28>::get(psr);
    const bool holds[] = {z, c, n, v, c && !z, n == v, n == v && !z, true};
    return (condition & 1) != 0 && condition < 14 ? !holds[condition >> 1]
                                                  : holds[(condition & 0xf) >> 1];
}

/// ITSTATE after one more instruction (ITAdvance(), A2.5.2); `psr` unchanged outside IT blocks.
constexpr std::uint32_t it_advance(std::uint32_t psr) {
    std::uint32_t it = it_state(psr);
    it = (it & 7) == 0 ? 0 : (it & 0xe0) | ((it << 1) & 0x1f);
    return (psr & ~psr_it) | Field<15, 10>::put(it >> 2) | Field<26, 25>::put(it & 3);
}

} // namespace mmioscope::arch
