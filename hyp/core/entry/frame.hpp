// What entry/fast_path.S saves when the guest traps. Hyp shares r0 to r12 and LR with User mode;
// SP, LR and SPSR of the other modes stay in their banks (port/banked.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace mmioscope {

struct Frame {
    std::uint32_t r[13]; ///< r0 to r12 (in FIQ mode r8 to r12 are banked: not these)
    std::uint32_t lr_usr;
    std::uint32_t pc;  ///< ELR_hyp: preferred return address (ARM ARM B1.8.8)
    std::uint32_t psr; ///< SPSR_hyp: the guest's CPSR
};
static_assert(sizeof(Frame) == 64 && offsetof(Frame, lr_usr) == 52 && offsetof(Frame, pc) == 56);

/// What the vectors save when Hyp itself takes an exception.
struct HypFrame {
    std::uint32_t r[13];
    std::uint32_t sp;
    std::uint32_t lr;
    std::uint32_t pc;     ///< ELR_hyp
    std::uint32_t psr;    ///< SPSR_hyp
    std::uint32_t vector; ///< 1 undefined, 2 SVC/HVC, 3 prefetch abort, 4 data abort, 6 IRQ, 7 FIQ
};
static_assert(sizeof(HypFrame) == 72 && offsetof(HypFrame, sp) == 52);

} // namespace mmioscope
