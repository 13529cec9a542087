// The shadow engine: the guest re-executes the instruction on its CPU's shadow table, between two
// traps. Whatever the instruction is, the device sees exactly that. What makes no record, Hyp does
// itself, if it can.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

class ShadowEngine final : public Engine {
public:
    /// First half: arms the step, opens the table. Returns `again`; the trap that ends the step
    /// calls finish().
    Outcome carry_out(Cpu& cpu, Frame& frame) override;
    /// Second half: closes the table, disarms, records, releases the locks.
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
};

} // namespace mmioscope
