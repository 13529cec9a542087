// The shadow engine: the guest itself re-executes the instruction, on its CPU's shadow table,
// between two traps. Whatever the instruction is, the device sees exactly what it would have.
#pragma once

#include "arch/hsr.hpp"
#include "engine/engine.hpp"

namespace mmioscope {

class ShadowEngine final : public Engine {
public:
    /// First half: lock, open, arm. Returns `again`; the trap at the step's end calls finish().
    Outcome carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) override;

    /// Second half, for any trap taken while a step is armed: close, disarm, record, unlock. True
    /// if the trap was the step's own breakpoint; otherwise it is still to be handled.
    static bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr);
};

} // namespace mmioscope
