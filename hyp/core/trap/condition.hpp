// The condition of an instruction that trapped.
#pragma once

#include "arch/hsr.hpp"
#include "arch/psr.hpp"
#include "entry/frame.hpp"

namespace mmioscope {

/// Whether an MCR, MRC or WFI that trapped passes its condition. Whether one that does not traps is
/// IMPLEMENTATION DEFINED (ARM ARM B1.14.1); it does nothing then. In Thumb state HSR may lack the
/// condition; ITSTATE has it.
inline bool passes_condition(const Frame& frame, arch::Hsr hsr) {
    constexpr unsigned always = 14;
    const std::uint32_t it = arch::it_state(frame.psr);
    const unsigned condition = hsr.condition_valid() ? hsr.condition() : it != 0 ? it >> 4 : always;
    return arch::condition_passed(condition, frame.psr);
}

} // namespace mmioscope
