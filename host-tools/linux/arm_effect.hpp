// The effect of one ARM instruction on SP, LR and PC.
#pragma once

#include <cstdint>
#include <optional>

namespace mmioscope::linux_guest {

/// SP and the return address, compared with the start of the function.
struct Frame {
    std::uint32_t depth = 0; ///< bytes that SP is below what it was
    std::uint32_t saved = 0; ///< the word that has the return address is so far below that; 0: none
    bool lr_intact = true;   ///< LR still has it
    bool torn = false;       ///< SP is not known

    bool operator==(const Frame&) const = default;
};

struct Flow {
    bool goes_on = true;                 ///< to the next instruction
    std::optional<std::uint32_t> target; ///< to this one, too
    bool table = false;                  ///< and to those in a table two words behind it
    bool lost = false;                   ///< it may go on where nothing is known of
};

/// What compilers put in front of a function's body for ftrace: LR is pushed, and popped by what
/// is called then, or by what the kernel wrote over that call. Both together do nothing.
constexpr bool is_ftrace(std::uint32_t word, std::uint32_t next) {
    constexpr std::uint32_t push_lr = 0xe52d'e004, pop_lr = 0xe8bd'4000;
    const bool call = (next & 0xff00'0000) == 0xeb00'0000;
    return word == push_lr && (call || next == pop_lr);
}

/// Where B goes; nothing: `word` is something else.
constexpr std::optional<std::uint32_t> branch_target(std::uint32_t word, std::uint32_t address) {
    if ((word & 0x0f00'0000) != 0x0a00'0000 || word >> 28 == 15) {
        return std::nullopt;
    }
    return address + 8 + ((((word & 0xff'ffff) ^ 0x80'0000) - 0x80'0000) << 2);
}

/// Takes `frame` over the instruction `word` at `address`. What does more to SP than push, pop, or
/// move it by a number goes on nowhere, and is lost. What it does not tell apart it takes for a
/// change of LR.
Flow follow(std::uint32_t word, std::uint32_t address, Frame& frame);

} // namespace mmioscope::linux_guest
