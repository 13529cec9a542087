#include "engine/shadow.hpp"

#include "base/check.hpp"
#include "engine/reexecution.hpp"

namespace mmioscope {

Outcome ShadowEngine::carry_out(Cpu& cpu, Frame& frame, const DeviceAccess& access) {
    if (!begin_access(cpu, frame, access)) return Outcome::again;
    begin_step(cpu, frame, access);
    cpu.view.open_shadow();
    return Outcome::again;
}

bool ShadowEngine::finish(Cpu& cpu, Frame& frame, arch::Hsr hsr) {
    cpu.view.close_shadow(); // first: nothing below may run with the shadow open
    const bool own_trap = end_step(cpu, frame, hsr);
    cpu.locks.release();
    return own_trap;
}

// The guest never resumes with the shadow open and no step armed, nor with a lock and no step.
void ShadowEngine::check_way_back(const Cpu& cpu) const {
    check(cpu.view.shadow_open() == cpu.step.armed, "shadow table without a step");
    check(cpu.locks.held() == cpu.step.armed, "lock without a step");
}

} // namespace mmioscope
