// The guest's registers as its current mode sees them (ARM ARM B1.3.2).
#pragma once

#include "arch/psr.hpp"
#include "entry/frame.hpp"

namespace mmioscope {

/// Register `n` of the mode the guest trapped from; 15 as a store of it sees it, two ARM
/// instructions ahead (A2.3).
std::uint32_t guest_register(const Frame& frame, unsigned n);
/// Register `n`, 0 to 15, as User mode has it.
std::uint32_t user_register(const Frame& frame, unsigned n);
/// SP and LR of the mode the guest trapped from: guest_register() of 13 and 14.
struct StackAndLink {
    std::uint32_t sp;
    std::uint32_t lr;
};
StackAndLink stack_and_link(const Frame& frame);
/// SPSR of the mode the guest trapped from; 0 in User and System mode, which have none.
std::uint32_t saved_psr(const Frame& frame);
/// SP of `mode`.
std::uint32_t stack_pointer(arch::Mode mode);
/// `n`: 0 to 14.
void set_guest_register(Frame& frame, unsigned n, std::uint32_t value);

/// Moves on to the next instruction, as if the one at PC had been executed: the IT block
/// advances too. `wide`: it was a 32-bit instruction.
void skip_instruction(Frame& frame, bool wide);

constexpr bool in_thumb(const Frame& frame) {
    return (frame.psr & arch::psr_thumb) != 0;
}

/// What identifies the running task: TPIDRURO, which Linux 6.x keeps `current` in; User mode has
/// its TLS there, so SP_svc, at whose stack's bottom Linux keeps thread_info.
std::uint32_t guest_task(const Frame& frame);

/// The guest's exception vectors: VBAR, or 0xffff0000 (B1.8.1).
std::uint32_t guest_vectors();

} // namespace mmioscope
