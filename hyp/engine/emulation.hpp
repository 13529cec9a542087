// The emulation engine: Hyp carries out what HSR describes completely, a single aligned load or
// store without writeback, and leaves everything else to the shadow engine.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

class EmulationEngine final : public Engine {
public:
    explicit EmulationEngine(Engine& otherwise) : otherwise_(otherwise) {}

    Outcome carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) override;
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override {
        return otherwise_.finish(cpu, frame, hsr);
    }
    void check_way_back(const Cpu& cpu) const override { otherwise_.check_way_back(cpu); }

private:
    Engine& otherwise_;
};

} // namespace mmioscope
