// What is kept of a step (machine/stepping.hpp).
#pragma once

#include "arch/hsr.hpp"
#include "entry/frame.hpp"
#include "mm/step_page.hpp"

namespace mmioscope {

struct Cpu;

/// Whose step it is, if not that of Machine::devices: of an instruction that accesses none.
class StepOps {
public:
    /// At the next trap of any kind. True: the step caused it; otherwise it must still be handled.
    virtual bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) = 0;

protected:
    ~StepOps() = default;
};

struct Step {
    bool armed{};
    std::uint32_t stop{};    ///< the guest stops there, before it executes anything else
    std::uint32_t psr{};     ///< its CPSR before
    std::uint64_t done{};    ///< when its accesses were done on the bus, as CNTPCT
    GuestInstruction code{}; ///< without breakpoints only: the instruction
    std::uint32_t undone{};  ///< of an ExclusivePair: the word behind the load, or 0
    StepOps* ops{};          ///< null: Machine::devices, whose step holds locks
};

enum class StepEnd {
    planned, ///< at the breakpoint
    /// The instruction was executed, but fetching the next one aborted before its breakpoint.
    next_page,
    exception,  ///< the instruction took an exception of the guest instead
    watchpoint, ///< the guest's own watchpoint fired, before the access
    trap,       ///< another trap to Hyp, still to be handled
};
constexpr bool executed(StepEnd end) {
    return end == StepEnd::planned || end == StepEnd::next_page;
}

} // namespace mmioscope
