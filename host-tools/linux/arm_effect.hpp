// The effect of one ARM instruction on SP, LR and PC.
#pragma once

#include <cstdint>
#include <optional>

namespace mmioscope::linux_guest {

/// SP and the return address, relative to the start of the function.
struct Frame {
    std::uint32_t depth = 0; ///< bytes that SP has moved down
    std::uint32_t saved = 0; ///< depth of the word with the return address; 0: none
    bool lr_intact = true;   ///< LR still has the return address
    bool torn = false;       ///< SP is unknown

    bool operator==(const Frame&) const = default;
};

struct Flow {
    bool goes_on = true;                 ///< continues with the next instruction
    std::optional<std::uint32_t> target; ///< may continue at this address
    bool table = false;                  ///< may jump by a table two words behind it
    bool lost = false;                   ///< may continue at an unknown place
};

/// What compilers insert before a function's body for ftrace: a push of LR, and a call whose target
/// pops it, or the pop that the kernel wrote over that call. Both together have no effect.
constexpr bool is_ftrace(std::uint32_t word, std::uint32_t next) {
    constexpr std::uint32_t push_lr = 0xe52d'e004, pop_lr = 0xe8bd'4000;
    const bool call = (next & 0xff00'0000) == 0xeb00'0000;
    return word == push_lr && (call || next == pop_lr);
}

/// The target of a B; nothing: `word` is another instruction.
constexpr std::optional<std::uint32_t> branch_target(std::uint32_t word, std::uint32_t address) {
    if ((word & 0x0f00'0000) != 0x0a00'0000 || word >> 28 == 15) {
        return std::nullopt;
    }
    return address + 8 + ((((word & 0xff'ffff) ^ 0x80'0000) - 0x80'0000) << 2);
}

/// Applies the instruction `word` at `address` to `frame`. Anything but push, pop, or adding a
/// number to SP continues nowhere, and is lost. Treats unknown instructions as a change of LR.
Flow follow(std::uint32_t word, std::uint32_t address, Frame& frame);

} // namespace mmioscope::linux_guest
