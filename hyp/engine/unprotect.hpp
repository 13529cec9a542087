// The baseline: what tracers do that have one table for all CPUs, as Linux mmiotrace has. The page
// is opened in the normal table for the length of the step, so what other CPUs access in it
// meanwhile is carried out and not recorded: events are lost, and nothing tells. It is here to be
// measured against, and for nothing else.
//
// As there, no lock is held during the step, and one trapped instruction makes one record. An
// instruction that reaches into a second page that traps is refused.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

class UnprotectEngine final : public Engine {
public:
    Outcome carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) override;
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
    void check_way_back(const Cpu& cpu) const override;
};

} // namespace mmioscope
