// The shadow engine: the guest re-executes the instruction in its CPU's shadow view, between two
// traps. Whatever the instruction is, the device sees exactly that. What makes no record, Hyp does
// itself, if it can.
#pragma once

#include "engine/engine.hpp"

namespace mmioscope {

class ShadowEngine : public Engine {
public:
    /// First half. Returns `again`, with a step armed; the trap that ends it calls finish().
    Outcome carry_out(Cpu& cpu, Frame& frame) override;
    /// Second half: ends the step, records, releases the locks.
    bool finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) override;
};

} // namespace mmioscope
