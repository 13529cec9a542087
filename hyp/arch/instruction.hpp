// What an instruction that trapped says about its access, where HSR does not (ISV=0).
#pragma once

#include <cstdint>

namespace mmioscope::arch {

/// At most this many registers move in one instruction: LDM and STM with a full list.
inline constexpr unsigned max_beats = 16;

/// A load or store, as far as this hypervisor needs to know it.
struct Instruction {
    bool wide{};           ///< 32 bits long
    bool load_store{};     ///< may reach a device
    bool loads_pc{};       ///< its continuation depends on what the device answers
    unsigned log2_size{2}; ///< of each access on the bus
    bool sign_extend{};
    unsigned beats{}; ///< accesses, each of one core register; 0: not known (VFP, exclusives, ...)
    std::uint8_t reg[max_beats]{}; ///< of each access, in the order of addresses
    bool has_base{};               ///< the two below tell the first address (LDM, STM)
    unsigned base{};               ///< Rn
    std::int32_t first{};          ///< first address, relative to Rn
};

/// True if `first_halfword` begins a 32-bit Thumb instruction (ARM ARM A6.1).
constexpr bool is_wide_thumb(std::uint16_t first_halfword) {
    return (first_halfword >> 11) >= 0x1d;
}

/// Decodes an ARM word, or a Thumb instruction: a 16-bit one as it is, a 32-bit one with its first
/// halfword in bits 31:16. (DDI 0406C: A5.2, A5.3, A5.5, A5.6, A5.7; A6.2, A6.3.)
Instruction decode(std::uint32_t word, bool thumb);

} // namespace mmioscope::arch
