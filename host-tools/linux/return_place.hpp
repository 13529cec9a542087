// Finds where a running function has its return address, in LR or on its stack, from the function's
// code up to the current instruction.
#pragma once

#include "linux/address_space.hpp"
#include "symbols/symbols.hpp"

#include <cstdint>
#include <optional>

namespace mmioscope::linux_guest {

struct ReturnPlace {
    enum class Kind {
        unknown,
        lr,    ///< LR still has its value from the function's start
        stack, ///< it was stored, and LR may have changed since
    };

    Kind kind = Kind::unknown;
    std::uint32_t offset = 0; ///< `stack`: bytes from SP
    std::uint32_t depth = 0;  ///< unless unknown: bytes that SP has moved down since the start
};

/// The place right before the instruction at `pc` of `function`, which must be ARM code (not
/// Thumb). Follows all branches within the function, and assumes that calls restore SP. Unknown if
/// no path leads to `pc`, or if paths disagree on SP.
ReturnPlace return_place(const AddressSpace& space, const symbols::Extent& function,
                         std::uint32_t pc);

/// Whether `function`, which must be ARM code, has a branch to `target` in another function.
bool branches_out(const AddressSpace& space, const symbols::Extent& function, std::uint32_t target);

// Decodes the call before a return address, from the guest's memory.

struct Call {
    std::optional<std::uint32_t> target; ///< nothing: a register has it
};

/// The call with the return address `address`, which includes the Thumb bit; nothing if there is no
/// call before it.
std::optional<Call> call_before(const AddressSpace& space, std::uint32_t address);

} // namespace mmioscope::linux_guest
