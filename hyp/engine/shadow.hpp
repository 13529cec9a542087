// The shadow engine: the guest itself re-executes the instruction, on its CPU's shadow table,
// between two traps. Whatever the instruction is, the device sees exactly what it would have.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

class ShadowEngine final : public Engine {
public:
    /// First half: lock, arm, open. Returns `again`; the trap at the step's end calls finish().
    Outcome carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) override;
    /// Second half: close, disarm, record, unlock.
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
    void check_way_back(const Cpu& cpu) const override;
};

} // namespace mmioscope
