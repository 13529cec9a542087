// The workload of the randomised tests: every CPU reads and writes two devices in a loop.
#pragma once

#include "rig.hpp"

namespace mmioscope::sim {

/// Number of accesses in one round of the loop.
inline constexpr unsigned hammer_accesses = 4;

/// Their addresses: not the first byte of a page, which takes the slow path (trap/split.hpp).
inline constexpr std::uint32_t hammer_fifo = at::fifo + 8;
inline constexpr std::uint32_t hammer_gadget = at::gadget + 8;

/// Sums the values read in r3; interrupts are enabled. HSR describes some accesses but not others.
inline void write_hammer(Code code, unsigned rounds) {
    code.mov(0, hammer_fifo).mov(4, hammer_gadget).mov(3, 0).mov(2, rounds).cpsie_aif();
    const std::uint32_t top = code.here();
    code.ldr(1, 0).add_reg(3, 3, 1).str(2, 0, 4);
    code.ldrh(1, 4).add_reg(3, 3, 1).ldr_post(1, 0, 0).add_reg(3, 3, 1);
    code.subs(2, 2, 1).bne(top).end();
}

} // namespace mmioscope::sim
