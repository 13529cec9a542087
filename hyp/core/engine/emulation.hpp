// The emulation engine: Hyp does what HSR describes completely, a single aligned load or store
// without writeback, and leaves everything else to the shadow engine. Hyp's access is privileged on
// the bus, also when it stands for one of User mode (PL0). Those are counted, or left to the shadow
// engine if the board has something that tells the two apart (mmioscope,user-firewall).
#pragma once

#include "engine/shadow.hpp"

namespace mmioscope {

/// Whether Hyp can do cpu.trapped.access.
[[nodiscard]] bool can_emulate(Cpu& cpu, const Frame& frame);
/// Does it, if it can, as Engine::carry_out(); otherwise the guest does, in a step.
Outcome emulate(Cpu& cpu, Frame& frame);

class EmulationEngine final : public ShadowEngine {
public:
    Outcome carry_out(Cpu& cpu, Frame& frame) override { return emulate(cpu, frame); }
};

} // namespace mmioscope
