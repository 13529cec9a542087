#include "engine/shadow.hpp"

#include "engine/reexecution.hpp"
#include "guest/registers.hpp"

namespace mmioscope {

Outcome ShadowEngine::carry_out(Cpu& cpu, Frame& frame) {
    begin_step(cpu, frame);
    cpu.debug.arm(cpu.step.next_pc, in_thumb(frame));
    cpu.view.open_shadow();
    return Outcome::again;
}

bool ShadowEngine::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    cpu.view.close_shadow(); // first of all: nothing below may run with the shadow open
    note_done(cpu);
    cpu.debug.disarm();
    const bool own_trap = end_step(cpu, frame, hsr);
    give_locks_back(cpu);
    return own_trap;
}

} // namespace mmioscope
