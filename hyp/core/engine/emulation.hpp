// The emulation engine: Hyp does what HSR describes completely, a single aligned load or store
// without writeback, and leaves everything else to the shadow engine. Hyp's access is privileged on
// the bus, also when it stands for one of User mode (PL0). Those are counted, or left to the shadow
// engine if the board has something that tells the two apart (mmioscope,user-firewall).
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

class EmulationEngine final : public Engine {
public:
    constexpr explicit EmulationEngine(Engine& otherwise) : otherwise_(otherwise) {}

    /// Whether carry_out() lets Hyp do cpu.step.access.
    [[nodiscard]] static bool can_do(Cpu& cpu, const Frame& frame);

    Outcome carry_out(Cpu& cpu, Frame& frame) override;
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override {
        return otherwise_.finish(cpu, frame, hsr);
    }

private:
    Engine& otherwise_;
};

} // namespace mmioscope
