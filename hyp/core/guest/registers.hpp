// The guest's registers as its present mode sees them (ARM ARM B1.3.2).
#pragma once

#include "arch/psr.hpp"
#include "entry/frame.hpp"

namespace mmioscope {

constexpr bool in_thumb(const Frame& frame) {
    return (frame.psr & arch::psr_thumb) != 0;
}

/// Whether register `n` of the mode from which the guest trapped is in the frame's `r`.
constexpr bool in_frame(const Frame& frame, unsigned n) {
    return n < 8 || (n < 13 && arch::mode_of(frame.psr) != arch::Mode::fiq);
}
/// guest_register() of those that are not.
std::uint32_t banked_register(const Frame& frame, unsigned n);
/// Register `n` of the mode from which the guest trapped. 15 is PC plus 8, as an ARM store of it
/// sees it (A2.3).
inline std::uint32_t guest_register(const Frame& frame, unsigned n) {
    return in_frame(frame, n) ? frame.r[n] : banked_register(frame, n);
}
/// Register `n`, 0 to 15, of User mode.
std::uint32_t user_register(const Frame& frame, unsigned n);
/// Whether the guest trapped from a mode with SP, LR and SPSR of its own: not User or System mode.
bool has_own_bank(const Frame& frame);
/// SPSR of the mode from which the guest trapped, which has one.
std::uint32_t saved_psr(const Frame& frame);
/// SP of `mode`.
std::uint32_t stack_pointer(arch::Mode mode);
/// set_guest_register() of those that are not in the frame.
void set_banked_register(Frame& frame, unsigned n, std::uint32_t value);
/// Sets register `n`, 0 to 14, of the mode from which the guest trapped.
[[gnu::always_inline]] inline void set_guest_register(Frame& frame, unsigned n,
                                                      std::uint32_t value) {
    if (in_frame(frame, n)) frame.r[n] = value;
    else set_banked_register(frame, n, value);
}

/// Moves PC to the next instruction, and advances the IT block, as if the instruction at PC had
/// been executed. `wide`: it has 4 bytes.
inline void skip_instruction(Frame& frame, bool wide) {
    frame.pc += wide ? 4 : 2;
    if (in_thumb(frame)) frame.psr = arch::it_advance(frame.psr);
}

/// Identifies the running task: TPIDRURO, in which Linux 6.x keeps `current`. In User mode that is
/// the process's TLS, so it is SP_svc instead: Linux keeps thread_info at the bottom of that stack.
std::uint32_t guest_task(const Frame& frame);

/// The address of the guest's exception vectors: VBAR, or 0xffff0000 (B1.8.1).
std::uint32_t guest_vectors();
/// From there, the exceptions that an instruction itself takes (table B1-3).
inline constexpr std::uint32_t undefined_vector = 0x04, prefetch_vector = 0x0c, data_vector = 0x10;

} // namespace mmioscope
