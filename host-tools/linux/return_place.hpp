// Where a running function has its return address: in LR, or on its stack. Found from its own code,
// from its start to the current instruction.
#pragma once

#include "linux/address_space.hpp"
#include "symbols/function_table.hpp"

#include <cstdint>

namespace mmioscope::linux_guest {

struct ReturnPlace {
    enum class Kind {
        unknown,
        lr,    ///< LR is as it was at the function's start
        stack, ///< it was stored, and LR may have been used for something else
    };

    Kind kind = Kind::unknown;
    std::uint32_t offset = 0; ///< `stack`: bytes from SP
    std::uint32_t depth = 0;  ///< unless unknown: bytes that SP is below what it was at the start
};

/// Right before the instruction at `pc` of `function`, which is ARM code (not Thumb). Follows all
/// branches in the function, and no calls, which it takes to leave SP as it was. Unknown where `pc`
/// is not come to so, or SP differs by the way that was taken.
ReturnPlace return_place(const AddressSpace& space, const symbols::Extent& function,
                         std::uint32_t pc);

/// `function`, which is ARM code, has a branch to `target`, which is in another one.
bool branches_out(const AddressSpace& space, const symbols::Extent& function, std::uint32_t target);

} // namespace mmioscope::linux_guest
