// A load-exclusive of memory and its store-exclusive in one step. The guest itself makes both, with
// its own monitor, and no trap comes between that might clear it.
//
// That is how it goes if only calculations lie between, which leave the loaded value and the
// address in their registers: behind the store these say what both have done. The first one may
// also add to the loaded value in its register, as Linux's atomic_add() does: that is undone. Any
// other load-exclusive is followed (trap/stretch.hpp), and Hyp stores.
#pragma once

#include "machine/step.hpp"

namespace mmioscope {

class ExclusivePair final : public StepOps {
public:
    /// A step of cpu.trapped.access, a load-exclusive of memory, is armed: it goes on to behind the
    /// store-exclusive, where that is possible.
    void prolong(Cpu& cpu, const Frame& frame);
    bool end_step(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
};
inline constinit ExclusivePair exclusive_pair; // it has no state

} // namespace mmioscope
