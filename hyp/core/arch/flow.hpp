// How control goes on behind an instruction, as far as its code says.
#pragma once

#include <cstdint>

namespace mmioscope::arch {

inline constexpr unsigned condition_always = 14;

struct Flow {
    enum class Kind : std::uint8_t {
        /// To the next instruction, unless it takes an exception. It keeps the exclusive monitor
        /// and, of CPSR, all but flags and ITSTATE, and does not read CPSR.
        plain,
        branch,          ///< to `offset`, or to the next instruction
        store_exclusive, ///< STREX and those of other sizes
        clear_exclusive, ///< CLREX
        other,           ///< or not known
    };
    static constexpr std::uint8_t no_register = 0xff;

    Kind kind{Kind::other};
    std::uint8_t condition{condition_always}; ///< its own; in an IT block ITSTATE has it
    std::uint8_t compared{no_register};       ///< CBZ, CBNZ: the register
    bool if_zero{};                           ///< CBZ
    std::int32_t offset{};                    ///< branch: from its own address, in bytes
};

/// Of an ARM word or a Thumb instruction, as arch::decode() takes it.
Flow flow_of(std::uint32_t word, bool thumb);

} // namespace mmioscope::arch
