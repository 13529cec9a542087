// What an instruction that trapped says about its access, where HSR does not (ISV=0).
#pragma once

#include <cstdint>

namespace mmioscope::arch {

/// The instruction set of a load or store, as far as this hypervisor needs it.
struct Instruction {
    bool wide{};            ///< 32 bits long
    bool load_store{};      ///< a load or store that may reach a device
    bool loads_pc{};        ///< its continuation depends on what the device answers
    bool single_register{}; ///< one access, to or from `reg`; the three below are valid
    unsigned reg{};
    unsigned log2_size{2};  ///< of each access; 2 (a bus beat) for multiples
    bool sign_extend{};
};

/// True if `first_halfword` begins a 32-bit Thumb instruction (ARM ARM A6.1).
constexpr bool is_wide_thumb(std::uint16_t first_halfword) { return (first_halfword >> 11) >= 0x1d; }

/// Decodes an ARM word, or a Thumb instruction: a 16-bit one as it is, a 32-bit one with its first
/// halfword in bits 31:16. (DDI 0406C: A5.2, A5.3, A5.5, A5.6, A5.7; A6.2, A6.3.)
Instruction decode(std::uint32_t word, bool thumb);

} // namespace mmioscope::arch
