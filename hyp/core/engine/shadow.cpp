#include "engine/shadow.hpp"

#include "engine/reexecution.hpp"

namespace mmioscope {

Outcome ShadowEngine::carry_out(Cpu& cpu, Frame& frame) {
    begin_step(cpu, frame);
    cpu.view.open_shadow();
    return Outcome::again;
}

bool ShadowEngine::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    cpu.view.close_shadow(); // first of all: nothing below may run with the shadow open
    const bool own_trap = end_step(cpu, frame, hsr);
    cpu.locks.release();
    return own_trap;
}

} // namespace mmioscope
