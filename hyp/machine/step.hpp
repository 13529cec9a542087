// One instruction re-executed by the guest: what is armed, and what must be put back.
#pragma once

#include "abi/record.hpp"
#include "machine/access.hpp"

namespace mmioscope {

/// Breakpoint pairs in use while stepping: behind the instruction, and at the guest's undefined,
/// prefetch abort and data abort vectors, in case it takes one of these instead.
inline constexpr unsigned step_breakpoints = 4;

/// The guest's debug registers that a step borrows.
struct BorrowedDebug {
    std::uint32_t value[step_breakpoints]{};
    std::uint32_t control[step_breakpoints]{};
    std::uint32_t dscr{};
};

struct Step {
    bool armed{};
    DeviceAccess access;
    abi::Record record{};     ///< all but value and duration of a load
    std::uint32_t next_pc{};  ///< where the breakpoint is
    std::uint32_t masks{};    ///< the guest's CPSR.A, I and F
    BorrowedDebug borrowed{};
};

} // namespace mmioscope
