// The engine behind emulation where there are no breakpoints: the guest re-executes the instruction
// on a page of the hypervisor's (mm/step_page.hpp).
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

class PageStepEngine final : public Engine {
public:
    /// As of ShadowEngine; cpu.step.code is the instruction.
    Outcome carry_out(Cpu& cpu, Frame& frame) override;
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
};

} // namespace mmioscope
